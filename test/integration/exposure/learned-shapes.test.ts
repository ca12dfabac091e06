import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startGateway } from '../../support/gateway.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const SERVER = fileURLToPath(new URL('../../support/servers/scripted-answers.mjs', import.meta.url));
const SEEN = 'Returns (seen): {issues: {id: number, title: string, state?: string}[], total: number}';
const issues = [
  { id: 1, title: 'Cart loses items' },
  { id: 2, title: 'Slow search', state: 'open' },
];

/** Returns a function that starts a gateway with one tool, always with the same state. */
function setUp() {
  const home = temporaryFolder('shapes');
  const file = join(home, 'answers.json');
  const tool = {
    name: 'list',
    description: 'Lists issues.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  };
  const content = [{ type: 'text', text: JSON.stringify({ issues, total: 2 }) }];
  const results = {
    initialize: { capabilities: { tools: {} } },
    'tools/list': { tools: [tool] },
    'tools/call': { content },
  };
  writeFileSync(file, JSON.stringify({ results }));
  const notes = { command: process.execPath, args: [SERVER, `--file=${file}`] };
  return (expose: 'search' | 'code', settings = {}): Promise<RunningGateway> =>
    startGateway({
      home,
      mcpServers: { notes },
      args: ['--expose', expose],
      config: { startup: { listWait: '60s' }, results: settings },
    });
}

async function describeTool(client: RawClient): Promise<string> {
  return textOfResult(await client.callTool('describe_tools', { names: ['notes__list'] }));
}

const call = (client: RawClient) => client.callTool('call_read_tool', { name: 'notes__list' });

test('learned shapes: describe_tools shows what results looked like, also after a restart and in declarations', async () => {
  const start = setUp();
  {
    await using gateway = await start('search');
    await using client = await gateway.client();
    expect(await describeTool(client)).not.toContain('Returns');
    await call(client);
    await eventually(async () => expect((await describeTool(client)).split('\n')[1]).toBe(SEEN), {
      what: 'The shape',
      withinMs: 10_000,
    });
  }
  {
    await using gateway = await start('code');
    await using client = await gateway.client();
    expect(await describeTool(client)).toContain(
      'list(args?: Record<string, any>): Promise<{issues: {id: number, title: string, state?: string}[], total: number}>;',
    );
  }
  {
    await using gateway = await start('search', { learnShapes: false });
    await using client = await gateway.client();
    expect(await describeTool(client)).not.toContain('Returns');
  }
});

test('learned shapes: come from the calls of scripts, too', async () => {
  const start = setUp();
  await using gateway = await start('code');
  await using client = await gateway.client();
  expect(await describeTool(client)).toContain('Promise<any>;');
  await client.callTool('run_code', { code: 'await tools.notes.list()' }, { withinMs: 20_000 });
  await eventually(async () => expect(await describeTool(client)).toContain('total: number}>;'), {
    what: 'The return type',
    withinMs: 10_000,
  });
});
