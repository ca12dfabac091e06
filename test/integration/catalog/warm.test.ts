import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually, waitForValue } from '../../support/eventually.ts';
import { type StdioEntry, fixture, fixtureLog } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

type Entries = Readonly<Record<string, StdioEntry>>;

scenario('cached listing: is served after a restart before any server has started', async () => {
  const home = temporaryFolder('trunkline-home');
  const works = mending();
  const slow = fixture('slow-start', '--until', works.file);
  const mcpServers = { a: slow, b: fixture('many-tools', '--count', '20') };
  const logs = Object.values(mcpServers).map(fixtureLog);
  const before = await run({ home, mcpServers }, namesOf);
  expect(before).toContain('a__echo');
  expect(before.filter((name) => name.startsWith('b__'))).toHaveLength(20);

  works.breakIt();
  await using gateway = await startGateway({ home, mcpServers });
  await using client = await gateway.client({ open: false });
  // Sent together, so that only the gateway takes time.
  const [, names] = await Promise.all([client.initialize(), namesOf(client)]);
  const at = Date.now();
  expect(names).toEqual(before);
  // The servers still start later, for a fresh listing.
  for (const log of logs) {
    const second = await waitForValue(() => log.of('started')[1], { withinMs: 10_000 });
    expect(second.at).toBeGreaterThanOrEqual(at);
  }
  works.mend();
  expect(textOfResult(await client.callTool('a__echo', { text: 'warm' }))).toBe('warm');
});

scenario(
  'cached listing: is discarded only for the server whose config entry changed',
  { slow: true },
  async () => {
    const home = temporaryFolder('trunkline-home');
    const works = mending();
    const mcpServers = { a: fixture('plain'), b: fixture('dies-at-start', '--until', works.file) };
    expect(await run({ home, mcpServers }, namesOf)).toEqual(
      expect.arrayContaining(['a__echo', 'b__add', 'b__echo']),
    );

    // From here on b cannot be listed again: its tools come from the cache.
    works.breakIt();
    const changed = { ...mcpServers, a: fixture('many-tools', '--count', '2') };
    const names = await run({ home, mcpServers: changed }, namesOf);
    expect(names.filter((name) => name.startsWith('a__'))).toEqual(['a__tool-0', 'a__tool-1']);
    expect(names).toContain('b__echo');

    // An entry that never answers has no tools, not even those of its previous configuration.
    const silent = { ...mcpServers, a: fixture('never-answers') };
    const rest = await run({ home, mcpServers: silent, config: { startup: { listWait: '100ms' } } }, namesOf);
    expect(rest.filter((name) => name.startsWith('a__'))).toEqual([]);
    expect(rest).toContain('b__echo');
  },
);

scenario('cached listing: drops the tools of a removed or disabled server', { slow: true }, async () => {
  const home = temporaryFolder('trunkline-home');
  const [a, b] = [fixture('plain'), fixture('plain')];
  expect(await run({ home, mcpServers: { a, b } }, namesOf)).toContain('b__echo');
  for (const mcpServers of [{ a }, { a, b: { ...b, enabled: false } }]) {
    await run({ home, mcpServers }, async (client) => {
      const names = await namesOf(client);
      expect(names).toContain('a__echo');
      expect(names.filter((name) => !name.startsWith('a__'))).toEqual([]);
      await expect(client.callTool('b__echo', { text: 'x' })).rejects.toMatchObject({ code: -32602 });
    });
  }
  expect(fixtureLog(b).of('started')).toHaveLength(1);
});

scenario('cached listing: lists every tool once after three restarts', { slow: true }, async () => {
  const home = temporaryFolder('trunkline-home');
  const mcpServers = { a: fixture('plain'), b: fixture('same-names') };
  const logs = Object.values(mcpServers).map(fixtureLog);
  const first = await run({ home, mcpServers }, namesOf);
  expect(new Set(first).size).toBe(first.length);
  for (let restart = 1; restart <= 3; restart += 1) {
    await run({ home, mcpServers }, async (client) => {
      expect(await namesOf(client)).toEqual(first);
      for (const log of logs) await eventually(() => atLeast(restart + 1, listed(log)), { withinMs: 10_000 });
      expect(await namesOf(client)).toEqual(first);
    });
  }
});

scenario(
  'cached listing: is kept while its server fails to start, and its age is shown',
  { slow: true },
  async () => {
    const home = temporaryFolder('trunkline-home');
    const works = mending();
    const mcpServers = { a: fixture('plain'), b: fixture('dies-at-start', '--until', works.file) };
    const log = fixtureLog(mcpServers.b);
    const before = await run({ home, mcpServers }, namesOf);
    expect(before).toContain('b__echo');
    works.breakIt();
    for (let restart = 1; restart <= 2; restart += 1) {
      await run({ home, mcpServers }, async (client) => {
        expect(await namesOf(client)).toEqual(before);
        await eventually(() => atLeast(restart, failures(log.of('ended'))), { withinMs: 10_000 });
        const result = await client.callTool('b__echo', { text: 'x' });
        expect(gatewayErrorCode(result)).toBe('UPSTREAM_UNAVAILABLE');
        expect(await namesOf(client)).toEqual(before);
        expect(textOfResult(await client.callTool('a__echo', { text: 'x' }))).toBe('x');
      });
    }
    // The output of the gateway shows the age of the listing.
    await using gateway = await startGateway({ home, mcpServers, listen: 'http' });
    const shown =
      /  b +waiting +.*giving up\) Its listing of \d+ s ago is still used: 18 tools, 2 prompts, 2 resources\./;
    await eventually(() => shown.test(gateway.stderr()), {
      withinMs: 20_000,
      what: 'The age of the listing',
    });
  },
);

/** One life of a gateway over stdio, from the client's first message to the end with code 0. */
async function run<T>(
  options: {
    readonly home: string;
    readonly mcpServers: Entries;
    readonly config?: Readonly<Record<string, unknown>>;
  },
  use: (client: RawClient, gateway: RunningGateway) => Promise<T>,
): Promise<T> {
  await using gateway = await startGateway({ ...options, config: { startup: patient, ...options.config } });
  await using client = await gateway.client();
  const result = await use(client, gateway);
  await gateway.stop();
  return result;
}

/** Long enough for a complete first listing on a busy machine. */
const patient = { listWait: '60s' };

async function namesOf(client: RawClient): Promise<readonly string[]> {
  return (await client.listTools()).map(nameOf);
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

function listed(log: ReturnType<typeof fixtureLog>) {
  return log.of('request').filter(({ method }) => method === 'tools/list');
}

function failures(events: readonly { readonly [field: string]: unknown }[]) {
  return events.filter(({ by }) => by === 'itself');
}

function atLeast(count: number, all: readonly unknown[]): boolean {
  return all.length >= count;
}

/** A file whose absence makes `dies-at-start` exit and `slow-start` wait. */
function mending() {
  const file = join(temporaryFolder(), 'works');
  const mend = (): void => writeFileSync(file, '');
  mend();
  return { file, mend, breakIt: () => rmSync(file) };
}
