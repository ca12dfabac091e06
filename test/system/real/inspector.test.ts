import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect } from 'vitest';

import { installTools, tools } from '../../conformance/install-tools.mjs';
import { fixture } from '../../support/fixture.ts';
import { gatewayCommand, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

const program = join(tools, 'node_modules', '@modelcontextprotocol', 'inspector-cli', 'build', 'cli.js');

scenario(
  'MCP Inspector: works through the gateway',
  { downstream: ['stdio/legacy', 'http/legacy'] },
  async (cell) => {
    if (!existsSync(program)) installTools();
    const options = { mcpServers: { one: fixture('plain') }, config: { startup: { listWait: '60s' } } };
    const isHttp = cell.downstream === 'http/legacy';
    await using gateway = isHttp ? await startGateway({ ...options, listen: 'http' }) : undefined;
    const { command, args, env } = gatewayCommand(options);
    // In a file, because the Inspector would parse options of the command as its own.
    const file = join(temporaryFolder(), 'inspector.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { trunkline: { type: 'stdio', command, args, env } } }));
    const target =
      gateway === undefined
        ? ['--config', file, '--server', 'trunkline']
        : [gateway.url, '--transport', 'http'];
    const inspect = (...words: string[]): Promise<unknown> =>
      inspected(['--cli', ...target, '--method', ...words]);

    const listed = (await inspect('tools/list')) as { tools: { name: string }[] };
    expect(listed.tools.map(({ name }) => name)).toContain('one__echo');
    const called = await inspect('tools/call', '--tool-name', 'one__echo', '--tool-arg', 'text=hello');
    expect(called).toMatchObject({ content: [{ type: 'text', text: 'hello' }] });
    const read = await inspect('resources/read', '--uri', 'fixture://text');
    expect(read).toMatchObject({ contents: [{ uri: 'fixture://text' }] });
    const got = await inspect('prompts/get', '--prompt-name', 'one__greet', '--prompt-args', 'name=Ada');
    expect(got).toMatchObject({ messages: [{ content: { text: 'Hello Ada!' } }, {}] });
  },
);

async function inspected(words: readonly string[]): Promise<unknown> {
  // The Inspector looks for its package.json from the current folder.
  const child = spawn(process.execPath, [program, ...words], {
    cwd: dirname(program),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`The Inspector ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}
