import { describe, expect, test } from 'vitest';

import { connectDirectly } from '../../support/direct-connection.ts';
import { type StdioEntry, fixture } from '../../support/fixture.ts';
import { startGateway, wrapCommand } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { JsonObject, ListedTool } from '../../support/raw-messages.ts';
import { type StdioChild, httpTransport, stdioTransport } from '../../support/raw-transports.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type Step, type Transcript, requestStep, callStep, record, withoutUnlisted } from './transcript.ts';

checkLeaks();

const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: {},
  extensions: { 'example.com/something': {} },
};

describe.each(['plain', 'conformance'] as const)('modern server %s', (preset) => {
  test('modern server: sends the same messages directly, through wrap and at its own path', async () => {
    await using direct = await connectDirectly(preset, [], { era: 'modern', capabilities, open: false });
    const steps = await stepsFor(direct.client);
    const expected = await record(direct.client, steps, normal);
    const entry = fixture(preset, '--era', 'modern');
    expect(await throughWrap(entry, steps)).toEqual(expected);
    const config = { startup: { listWait: '60s' } };
    await using gateway = await startGateway({ mcpServers: { one: entry }, listen: 'http', config });
    const url = `${gateway.url}/s/one`;
    const client = await RawClient.over(httpTransport(url), { era: 'modern', capabilities });
    await using _ = { [Symbol.asyncDispose]: () => client.close() };
    expect(withoutUnlisted(await record(client, steps, normal))).toEqual(withoutUnlisted(expected));
  });
});

/** Uses every method, every tool without arguments, every prompt, every resource, and invalid requests. */
async function stepsFor(client: RawClient): Promise<readonly Step[]> {
  const tools = (await client.request('tools/list'))['tools'] as ListedTool[];
  const prompts = (await client.request('prompts/list'))['prompts'] as { name: string }[];
  const resources = (await client.request('resources/list'))['resources'] as { uri: string }[];
  const log = { 'io.modelcontextprotocol/logLevel': 'debug' };
  return [
    requestStep('server/discover'),
    ...['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'].map((each) =>
      requestStep(each),
    ),
    requestStep('tools/list', { cursor: 'odd' }),
    ...tools.filter(({ name }) => !UNEQUAL.has(name)).map(({ name }) => callStep(name)),
    callStep(
      'test_tool_with_logging',
      {},
      { meta: log },
      tools.some(({ name }) => name === 'test_tool_with_logging') ? 3 : 0,
    ),
    callStep('echo', { text: 'x', tail: [1, { y: null }] }, { meta: { 'example.com/trace': 'abc' } }),
    ...prompts.map(({ name }) =>
      requestStep('prompts/get', { name, arguments: { name: 'Ada', arg1: 'a', arg2: 'b' } }),
    ),
    ...resources.map(({ uri }) => requestStep('resources/read', { uri })),
    requestStep('completion/complete', {
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'name', value: 'A' },
    }),
    requestStep('completion/complete', {
      ref: { type: 'ref/prompt', name: 'none' },
      argument: { name: 'x', value: '' },
    }),
    callStep('no-such-tool'),
    requestStep('prompts/get', { name: 'no-such-prompt' }),
    requestStep('resources/read', { uri: 'nowhere://at-all' }),
    requestStep('vendor/no-such-method', { a: 1 }),
    requestStep('ping'),
    requestStep('tasks/get', { taskId: 'none' }),
  ];
}

/** Tools whose answers differ between calls, or which end the server, hang, or change its lists. */
const UNEQUAL = new Set([
  'pid',
  'env',
  'crash',
  'change-list',
  'test_trigger_tool_change',
  'test_trigger_prompt_change',
]);

async function throughWrap(entry: StdioEntry, steps: readonly Step[]): Promise<Transcript> {
  const [command, ...args] = wrapCommand([entry.command, ...entry.args]);
  const env = { ...process.env, ...entry.env, TRUNKLINE_HOME: temporaryFolder('trunkline-home') };
  const child: StdioChild = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stderr.resume();
  const exited = once(child, 'exit');
  const client = await RawClient.over(stdioTransport(child), { era: 'modern', capabilities });
  try {
    return await record(client, steps, normal);
  } finally {
    await client.close();
    await exited;
  }
}

function normal(message: JsonObject): unknown {
  const { result, id: _, ...rest } = message as { result?: JsonObject; id?: unknown };
  if (result === undefined) return rest;
  // Caching fields apply to one hop, because the policy of the gateway may change.
  const { ttlMs: _ttl, cacheScope: _scope, ...said } = result;
  // The gateway also supports older versions, whatever the server supports.
  const { supportedVersions: _versions, ...compared } = said;
  // The server encrypts it differently in each call.
  return {
    ...rest,
    result: 'requestState' in compared ? { ...compared, requestState: '<sealed>' } : compared,
  };
}
