import { statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type StdioEntry, fixture, fixtureCommand, fixtureLog } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

interface Shown {
  readonly name: string;
  readonly state: string;
  readonly problem?: { readonly message: string };
}

/** Shorter than every installation below, so that only the activity of the launcher keeps it alive. */
const config = { timeouts: { connect: '500ms' } };

/** The folder into which an `npx` of the test installs packages. */
class PackageCache {
  readonly folder = temporaryFolder('install');
  readonly #npx = join(this.folder, 'npx');
  readonly #log = fixture('installs-first').env;

  constructor() {
    symlinkSync(fixtureCommand('installs-first')[1] ?? '', this.#npx);
  }

  server(name: string, ...options: readonly string[]): StdioEntry {
    const [, , run = ''] = fixtureCommand('installs-first');
    const env = { ...this.#log, INSTALL_CACHE: this.folder };
    return { command: this.#npx, args: ['-y', name, run, ...options], env };
  }

  servers(...names: readonly string[]): Readonly<Record<string, StdioEntry>> {
    return Object.fromEntries(names.map((name) => [name, this.server(name)]));
  }

  events(
    event: 'installing' | 'installed' | 'damaged',
  ): readonly { readonly name: string; readonly pid: number }[] {
    return fixtureLog(this.server(''))
      .of(event)
      .map(({ name, pid }) => ({ name: String(name), pid }));
  }

  names(event: 'installing' | 'installed' | 'damaged'): readonly string[] {
    return this.events(event).map(({ name }) => name);
  }

  finish(...names: readonly string[]): void {
    for (const name of names) writeFileSync(join(this.folder, `${name}.go`), '');
  }

  /** Waits until an installer has worked for several times as long as `timeouts.connect`. It writes every 20 ms. */
  async outlastTimeout(name: string): Promise<void> {
    const file = join(this.folder, `${name}.part`);
    await eventually(() => statSync(file).size > 2000 * 60);
  }
}

async function servers({ home }: RunningGateway): Promise<readonly Shown[]> {
  return (await commandHome().json(['servers'], { env: { TRUNKLINE_HOME: home } })) as readonly Shown[];
}

async function statesOf(gateway: RunningGateway): Promise<readonly string[]> {
  return (await servers(gateway)).map(({ state }) => state);
}

test('install: three servers of npx are installed at a time, and none is killed', async () => {
  const cache = new PackageCache();
  const mcpServers = cache.servers('a', 'b', 'c', 'd', 'e');
  await using gateway = await startGateway({ mcpServers, listen: 'http', config });
  for (const name of ['a', 'b', 'c']) await cache.outlastTimeout(name);
  expect(cache.names('installing').toSorted()).toEqual(['a', 'b', 'c']);
  await eventually(async () => expect(await statesOf(gateway)).toEqual(Array(5).fill('installing')));
  cache.finish('b', 'd');
  await eventually(() => expect(cache.names('installing')).toHaveLength(5));
  cache.finish('a', 'c', 'e');
  const ready = { state: 'ready', listedAt: expect.any(Number) as number };
  await eventually(async () => expect(await servers(gateway)).toMatchObject(Array(5).fill(ready)));
  expect(cache.events('installing')).toHaveLength(5);
  expect(cache.names('installed').toSorted()).toEqual(['a', 'b', 'c', 'd', 'e']);
});

test('install: a call of a server that is being installed says so', { tags: ['slow'] }, async () => {
  const cache = new PackageCache();
  await using gateway = await startGateway({ mcpServers: cache.servers('a'), listen: 'http', config });
  await cache.outlastTimeout('a');
  const there = { env: { TRUNKLINE_HOME: gateway.home } };
  const home = commandHome();
  for (const command of [
    ['call', 'a', 'echo', '{"text":"x"}'],
    ['call', 'a__echo', '{"text":"x"}'],
    ['tools', 'a'],
    ['refresh', 'a'],
  ]) {
    const { code, stderr } = await home.run([...command, '--text'], there);
    expect(stderr).toContain('Server "a" is still being installed');
    expect(code).toBe(4);
  }
  expect((await home.run(['servers', '--text'], there)).stdout).toMatch(/^a +installing +stdio +never/m);
  const client = await gateway.client();
  const result = await client.callTool('a__echo', { text: 'x' });
  expect(JSON.stringify(result)).toContain('is still being installed');
  cache.finish('a');
  await eventually(async () => expect(await statesOf(gateway)).toEqual(['ready']));
});

test(
  'install: an installer outlives a gateway that stops, and its package works afterwards',
  { tags: ['slow'] },
  async () => {
    const cache = new PackageCache();
    const gateway = await startGateway({ mcpServers: cache.servers('a'), listen: 'http', config });
    await cache.outlastTimeout('a');
    const [installer] = cache.events('installing');
    await gateway.stop();
    expect(isRunning(installer!.pid)).toBe(true);
    cache.finish('a');
    await eventually(() => !isRunning(installer!.pid), { what: 'the end of the installer' });
    expect(cache.names('installed')).toEqual(['a']);
    await using again = await startGateway({ mcpServers: cache.servers('a'), listen: 'http', config });
    await eventually(async () => expect(await statesOf(again)).toEqual(['ready']));
    expect(cache.names('damaged')).toEqual([]);
  },
);

test('install: an installer outlives a gateway that is killed', { tags: ['slow'] }, async () => {
  const cache = new PackageCache();
  const mcpServers = { ...cache.servers('a'), plain: fixture('ignores-signals') };
  const gateway = await startGateway({ mcpServers, listen: 'http' });
  const plain = fixtureLog(mcpServers.plain);
  const [server] = await eventually(() => {
    expect(cache.events('installing')).toHaveLength(1);
    const started = plain.of('started');
    return started.length > 0 ? started : false;
  });
  await eventually(async () => expect(await statesOf(gateway)).toEqual(['installing', 'ready']));
  const [installer] = cache.events('installing');
  await gateway.kill();
  // The watchdog ends servers, also one that ignores signals, and only then looks at installers.
  await eventually(() => !isRunning(server!.pid), { what: 'the end of the other server' });
  // The next gateway kills servers that were left behind, but no installers.
  await using next = await startGateway({ mcpServers: {}, home: gateway.home, listen: 'http' });
  expect(await statesOf(next)).toEqual([]);
  expect(isRunning(installer!.pid)).toBe(true);
  cache.finish('a');
  await eventually(() => !isRunning(installer!.pid), { what: 'the end of the installer' });
  expect(cache.names('installed')).toEqual(['a']);
});

test(
  'install: a restart waits for the installer that is left instead of starting a second one',
  { tags: ['slow'] },
  async () => {
    const cache = new PackageCache();
    await using gateway = await startGateway({ mcpServers: cache.servers('a'), listen: 'http', config });
    await cache.outlastTimeout('a');
    const there = { env: { TRUNKLINE_HOME: gateway.home } };
    expect(await commandHome().run(['restart', 'a'], there)).toMatchObject({ code: 4 });
    expect(cache.events('installing')).toHaveLength(1);
    expect(await statesOf(gateway)).toEqual(['installing']);
    cache.finish('a');
    await eventually(async () => expect(await statesOf(gateway)).toEqual(['ready']));
    expect(cache.names('damaged')).toEqual([]);
  },
);

test.runIf(process.platform === 'linux')(
  'install: a launcher that does nothing fails',
  { tags: ['slow'] },
  async () => {
    const cache = new PackageCache();
    const mcpServers = { a: cache.server('a', '--idle') };
    await using gateway = await startGateway({ mcpServers, listen: 'http', config });
    const message = 'Server "a" was not ready, and its launcher did nothing for 0.5 s (timeouts.connect).';
    await eventually(async () => expect(await servers(gateway)).toMatchObject([{ problem: { message } }]));
    cache.finish('a');
    await eventually(async () => expect(await statesOf(gateway)).toEqual(['ready']));
  },
);
