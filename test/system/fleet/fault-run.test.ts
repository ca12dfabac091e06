import { setTimeout as pass } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import type { FixtureLog } from '../../support/fixture-log.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import { isRunning } from '../../support/processes.ts';
import { queryPostgres } from '../../support/query-postgres.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { Random } from '../../soak/random.ts';
import { type CountedCall, type CountedLoad, startCountedLoad } from './counted-load.ts';
import { type RunningFleet, startFleet } from './fleet.ts';
import { startHealthChecks } from './health-checks.ts';
import { toProxiedUrl } from './to-proxied-url.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();

/** Set FLEET_SEED to try another order of faults. */
const seed = Number(process.env['FLEET_SEED'] ?? 9);
const patience = { withinMs: 120_000 };
const CALM = 'calm';
/** Longer than the five seconds after which an owner gives up a shared server. */
const AWAY_MS = 6500;

type Fault = readonly [name: string, strike: () => Promise<unknown>];

test(`fleet under faults: executes no call twice and loses no acknowledged call (seed ${seed})`, async () => {
  const everywhere = fixture('plain');
  const once = { ...fixture('plain'), share: 'fleet' };
  const logs = { everywhere: fixtureLog(everywhere), once: fixtureLog(once) };
  {
    await using cluster = await startOwnPostgres();
    await using proxy = await startTcpProxy();
    const { url } = await cluster.newSchema();
    await using fleet = await startFleet(3, {
      mcpServers: { everywhere, once },
      storageUrl: toProxiedUrl(proxy, url),
      config: { http: { drain: '500ms' }, shutdown: '5s', storage: { connectTimeout: '2s' } },
    });
    await using _checks = startHealthChecks(fleet);
    const eras = ['legacy', 'modern', 'legacy', 'modern'] as const;
    const clients = await Promise.all(eras.map((era) => fleet.client({ era })));
    const load = startCountedLoad(clients, Object.keys(logs));
    await untilCalm(fleet, load, clients.length);
    const faults: readonly Fault[] = new Random(seed).shuffled<Fault>([
      ...[0, 1, 2].map((at): Fault => [`kill ${at}`, () => kill(fleet, at)]),
      ['roll', () => roll(fleet)],
      [
        'database cut',
        async () => {
          proxy.forwardTo('tcp://127.0.0.1:1');
          proxy.cut();
          await pass(AWAY_MS);
          proxy.forwardTo(url);
        },
      ],
      ['connections ended', () => endConnections(url)],
      [
        'database restarted',
        async () => {
          cluster.stop();
          cluster.start();
        },
      ],
    ]);
    for (const [name, strike] of faults) {
      load.phase = name;
      await strike();
      await untilCalm(fleet, load, clients.length);
    }
    await load.end();
    checkCalls(load.calls, logs);
    // The sessions from the start still exist, and every gateway serves them.
    for (const client of clients) {
      for (const at of [0, 1, 2]) {
        const text = `at last ${at}`;
        expect(textOfResult(await client.callTool('everywhere__echo', { text }))).toBe(text);
      }
      expect(client.strays.all).toEqual([]);
    }
    // After a pause of the machine, the owner may have given the server up; the next call starts it again.
    await clients[0]?.callTool('once__echo', { text: 'once more' });
    expect(running(logs.once)).toHaveLength(1);
    expect(running(logs.everywhere).length).toBeLessThanOrEqual(fleet.replicas.length);
  }
  expect([...running(logs.once), ...running(logs.everywhere)]).toEqual([]);
}, 900_000);

async function kill(fleet: RunningFleet, at: number): Promise<void> {
  await fleet.replicas[at]?.kill();
  await fleet.restart(at);
}

async function roll(fleet: RunningFleet): Promise<void> {
  for (const at of fleet.replicas.keys()) {
    await fleet.restart(at);
    await eventually(() => !fleet.balancer.excluded.has(at), patience);
  }
}

/** Terminates the connections of all gateways, as a database administrator can. */
async function endConnections(url: string): Promise<void> {
  await queryPostgres(
    url,
    'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and backend_type = $1',
    ['client backend'],
  );
}

/** Waits until every gateway is in use and enough calls have succeeded in a row. No call may fail from then on until the next fault. */
async function untilCalm(fleet: RunningFleet, load: CountedLoad, clients: number): Promise<void> {
  const enough = clients * 10;
  let from = load.calls.length;
  await eventually(() => {
    const since = load.calls.slice(from);
    const last = since.findLastIndex(({ failure }) => failure !== undefined);
    if (last !== -1) from += last + 1;
    const good = load.calls.slice(from);
    expect(fleet.balancer.excluded.size).toBe(0);
    for (const server of ['everywhere', 'once'])
      expect(good.filter((call) => call.server === server).length).toBeGreaterThan(enough);
  }, patience);
  load.phase = CALM;
  const before = load.calls.length;
  await eventually(() => load.calls.length > before + enough, patience);
}

function checkCalls(calls: readonly CountedCall[], logs: Readonly<Record<string, FixtureLog>>): void {
  const executed = new Map<string, number>();
  for (const log of Object.values(logs)) {
    for (const { arguments: given } of log.of('call')) {
      const { text = '' } = given as { text?: string };
      executed.set(text, (executed.get(text) ?? 0) + 1);
    }
    expect(log.violations()).toEqual([]);
  }
  const short = ({ text, during, failure = '' }: CountedCall): string =>
    `${text} (${during.join(' to ')}): ${failure.slice(0, 200)}`;
  const failed = calls.filter(({ failure }) => failure !== undefined);
  const during = (call: CountedCall, ...phases: readonly string[]): boolean =>
    call.during.every((phase) => phases.includes(phase));
  expect([...executed].filter(([, times]) => times > 1)).toEqual([]);
  expect(failed.filter(({ isAnswered }) => isAnswered).map(short)).toEqual([]);
  const acknowledged = calls.filter(({ failure }) => failure === undefined);
  expect(acknowledged.filter(({ text }) => executed.get(text) !== 1).map(short)).toEqual([]);
  // A rolling restart must not fail a call, and only shared servers need the database.
  expect(failed.filter((call) => during(call, CALM, 'roll')).map(short)).toEqual([]);
  const withoutDatabase = ['database cut', 'connections ended', 'database restarted'];
  const ofDatabase = failed.filter((call) => during(call, CALM, ...withoutDatabase));
  expect(ofDatabase.filter(({ server }) => server === 'everywhere').map(short)).toEqual([]);
  expect(failed.filter(({ failure = '' }) => /HTTP 40\d/.test(failure)).map(short)).toEqual([]);
  expect(acknowledged.length).toBeGreaterThan(500);
  // Some calls must have failed; otherwise the database was never unreachable and the test proves nothing.
  expect(
    failed.filter(({ server, during: [begun] }) => server === 'once' && begun === 'database cut'),
  ).not.toEqual([]);
}

/** Returns the ids of the running processes of a server. */
function running(log: FixtureLog): readonly number[] {
  return log.of('started').flatMap(({ pid }) => (isRunning(pid) ? [pid] : []));
}
