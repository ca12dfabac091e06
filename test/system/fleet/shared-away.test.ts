import { expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import { isRunning } from '../../support/processes.ts';
import { startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();

const slow = { withinMs: 40_000 };

test('fleet share: ends its process during a database outage and restarts it afterwards', async () => {
  await using cluster = await startOwnPostgres();
  const { url: storageUrl } = await cluster.newSchema();
  const once = { ...fixture('ignores-signals'), share: 'fleet' };
  const everywhere = fixture('plain');
  const log = fixtureLog(once);
  const storage = { connectTimeout: '2s' };
  const mcpServers = { once, everywhere };
  await using fleet = await startFleet(2, { mcpServers, storageUrl, config: { storage } });
  const clients = await Promise.all(fleet.replicas.map((replica) => replica.client()));
  const called = async (server: string, at: number) =>
    clients[at]!.callTool(`${server}__echo`, { text: 'hello' }, slow);
  for (const at of [0, 1]) {
    expect(textOfResult(await called('once', at))).toBe('hello');
    expect(textOfResult(await called('everywhere', at))).toBe('hello');
  }
  const [first] = log.of('started').map(({ pid }) => pid);
  cluster.stop();
  // Ending the process takes eight seconds, on a busy machine longer; nothing is written to it meanwhile.
  await eventually(() => expect(isRunning(first!)).toBe(false), slow);
  const refused = await Promise.all([0, 1].map((at) => called('once', at)));
  for (const answer of refused) expect(gatewayErrorCode(answer), textOfResult(answer)).toBeDefined();
  for (const at of [0, 1]) expect(textOfResult(await called('everywhere', at))).toBe('hello');
  cluster.start();
  await eventually(async () => {
    for (const at of [0, 1]) expect(textOfResult(await called('once', at))).toBe('hello');
  }, slow);
  expect(log.of('started').filter(({ pid }) => isRunning(pid))).toHaveLength(1);
  for (const client of clients) await client.close();
});
