import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect } from 'vitest';

import { rpcErrorOf, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { type StdioEntry, fixture, fixtureLog, startHttpFixture } from '../../support/fixture.ts';
import { startGateway, wrapCommand } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { RawClientOptions } from '../../support/raw-messages.ts';
import { type StdioChild, stdioTransport } from '../../support/raw-transports.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

interface WrapOptions extends RawClientOptions {
  readonly home?: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Replaces the command. */
  readonly url?: string;
}

/** Connects a client to one wrapped server, before the handshake. */
async function wrapped(entry: StdioEntry | undefined, options: WrapOptions = {}) {
  const { home = temporaryFolder('trunkline-home'), cwd, url, ...client } = options;
  const server = entry === undefined ? [] : [entry.command, ...entry.args];
  const [command, ...args] = wrapCommand(server, url === undefined ? [] : ['--url', url]);
  const env = { ...process.env, ...entry?.env, ...options.env, TRUNKLINE_HOME: home };
  const child: StdioChild = spawn(command, args, { env, cwd, stdio: ['pipe', 'pipe', 'pipe'] });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit').then(([code]) => code as number);
  const raw = await RawClient.over(stdioTransport(child), client);
  const end = async (): Promise<number> => {
    await raw.close();
    return exited;
  };
  return { client: raw, end, stderr: () => stderr, [Symbol.asyncDispose]: async () => void (await end()) };
}

scenario(
  'wrap: serves the server under its own names and passes on the client info',
  { downstream: ['stdio/legacy', 'stdio/modern'], upstream: everyLeg },
  async (cell) => {
    const [over, era] = cell.upstream.split('/') as [string, string];
    const clientEra = cell.downstream === 'stdio/modern' ? 'modern' : 'legacy';
    const clientInfo = { name: 'a-client', version: '9.9.9' };
    const options = { era: clientEra, clientInfo, capabilities: { roots: {} } } as const;
    const args = ['--era', era, ...(over === 'sse' ? ['--sse', '0'] : [])];
    await using http = over === 'stdio' ? undefined : await startHttpFixture('plain', args);
    const entry = over === 'stdio' ? fixture('plain', '--era', era) : undefined;
    await using line = await wrapped(entry, { ...options, ...(http && { url: http.url }) });
    const opened = await line.client.open();
    expect(opened['instructions']).toBe('A server for tests of the gateway.');
    const tools = (await line.client.listTools()).map(({ name }) => name);
    expect(tools.slice(0, 2)).toEqual(['echo', 'add']);
    expect(textOfResult(await line.client.callTool('echo', { text: 'hello' }))).toBe('hello');
    expect(await rpcErrorOf(line.client.callTool('none'))).toMatchObject({
      message: 'Unknown tool: none (-32602)',
    });
    const log = http?.log ?? fixtureLog(entry ?? fixture('plain'));
    const told = JSON.stringify([...log.of('initialize'), ...log.of('discover')]);
    expect(told).toContain('a-client');
    expect(log.violations()).toEqual([]);
    expect(await line.end()).toBe(0);
  },
);

scenario('wrap: answers from its cache before it starts the server', async () => {
  const home = temporaryFolder('trunkline-home');
  const entry = fixture('plain');
  const starts = (): number => fixtureLog(entry).of('started').length;
  await using first = await wrapped(entry, { home });
  const opened = await first.client.open();
  const tools = await first.client.listTools();
  expect(await first.end()).toBe(0);
  expect(starts()).toBe(1);
  await using second = await wrapped(entry, { home });
  expect(await second.client.open()).toEqual(opened);
  expect(await second.client.listTools()).toEqual(tools);
  // The request is answered without starting the server.
  expect(starts()).toBe(1);
  expect(textOfResult(await second.client.callTool('echo', { text: 'now' }))).toBe('now');
  expect(starts()).toBe(2);
});

scenario('wrap: answers initialize before any request sent along with it', async () => {
  const home = temporaryFolder('trunkline-home');
  const entry = fixture('plain');
  // The first start must list the server; the second start has the cache.
  for (const time of ['first', 'second']) {
    await using line = await wrapped(entry, { home });
    const { client } = line;
    const opened = client.request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'hasty', version: '1' },
    });
    const rest = [client.request('tools/list'), client.request('prompts/list'), client.callTool('echo')];
    await Promise.allSettled([opened, ...rest]);
    const answers = client.rawLines.map((text) => JSON.parse(text) as { id?: unknown; result?: object });
    expect(answers[0]?.result, time).toHaveProperty('serverInfo');
    expect(answers.filter(({ id }) => id !== undefined)).toHaveLength(4);
  }
});

scenario(
  'wrap: keeps separate caches per command, folder, environment and client capabilities',
  { slow: true },
  async () => {
    const home = temporaryFolder('trunkline-home');
    const plain = fixture('plain');
    const other = fixture('same-names');
    const names = async (entry: StdioEntry, options: WrapOptions = {}): Promise<readonly string[]> => {
      await using line = await wrapped(entry, { home, ...options });
      await line.client.open();
      return (await line.client.listTools()).map(({ name }) => name);
    };
    const own = await names(plain);
    expect(await names(other)).not.toEqual(own);
    expect(await names(plain)).toEqual(own);
    // Each of these starts without a cache, so the server must be listed.
    const asked = (): number => fixtureLog(plain).of('initialize').length;
    for (const options of [
      { cwd: temporaryFolder() },
      { capabilities: { roots: {} } },
      { env: { NEW_NAME: '1' } },
    ]) {
      const before = asked();
      expect(await names(plain, options)).toEqual(own);
      expect(asked(), JSON.stringify(options)).toBeGreaterThan(before);
    }
  },
);

scenario('wrap: announces changes only for the lists that the server has', async () => {
  await using line = await wrapped(fixture('changes-its-list', '--only-tools', '--every', '300'));
  const { client } = line;
  expect(Object.keys((await client.open())['capabilities'] as object)).not.toContain('prompts');
  const before = (await client.listTools()).length;
  await client.notifications.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  expect((await client.listTools()).length).toBeGreaterThan(before);
  // The client need not have listed anything: a change may concern everything then.
  await using silent = await wrapped(fixture('changes-its-list', '--only-tools', '--every', '300'));
  await silent.client.open();
  await silent.client.notifications.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  const told = [...client.notifications.all, ...silent.client.notifications.all].map(({ method }) => method);
  expect(new Set(told)).toEqual(new Set(['notifications/tools/list_changed']));
});

scenario('wrap: passes vendor requests and notifications between client and server', async () => {
  await using line = await wrapped(fixture('dialect'), { capabilities: { elicitation: {} } });
  const { client } = line;
  await client.open();
  const answered = client.notifications.next(({ method }) => method === 'notifications/vendor/answered');
  await client.notify('notifications/vendor/heard', { n: 1 });
  expect(await answered).toMatchObject({ params: { n: 1 } });
  client.answers('vendor/question', ({ x }) => ({ was: x }));
  expect(await client.request('vendor/ask-back', { x: 7 })).toEqual({ answer: { was: 7 } });
});

scenario('wrap: reports a server that cannot start to the client and in the exit code', async () => {
  await using line = await wrapped({ command: 'no-such-command-anywhere', args: [], env: {} });
  const failure = await rpcErrorOf(line.client.open());
  expect(failure.message).toContain('no-such-command-anywhere');
  expect(await line.end()).toBe(4);
  await using nothing = await wrapped(undefined);
  expect(await nothing.end()).toBe(2);
  expect(nothing.stderr()).toContain('trunkline wrap -- COMMAND');
  await using nowhere = await wrapped(undefined, { url: 'nowhere' });
  expect(await nowhere.end()).toBe(2);
  expect(nowhere.stderr()).toContain('--url');
});

scenario(
  'serve: adds servers from the command line to those of the config',
  { upstream: ['stdio/legacy', 'http/legacy'] },
  async (cell) => {
    await using http =
      cell.upstream === 'http/legacy' ? await startHttpFixture('plain', ['--era', 'legacy']) : undefined;
    const entry = fixture('plain');
    const words = [entry.command, ...entry.args].map((word) => `'${word}'`).join(' ');
    const args = ['--expose', 'direct', '--server', `typed=${http?.url ?? words}`];
    const config = { startup: { listWait: '60s' } };
    await using gateway = await startGateway({ mcpServers: { filed: fixture('same-names') }, config, args });
    await using client = await gateway.client();
    const names = await eventually(
      async () => {
        const listed = (await client.listTools()).map(({ name }) => name);
        return (
          ['typed__', 'filed__'].every((prefix) => listed.some((name) => name.startsWith(prefix))) && listed
        );
      },
      { what: 'Tools of both' },
    );
    expect(names).toContain('typed__echo');
    expect(textOfResult(await client.callTool('typed__echo', { text: 'x' }))).toBe('x');
  },
);
