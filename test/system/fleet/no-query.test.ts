import { beforeAll, expect, test } from 'vitest';

import { countKinds, withKinds } from '../../../bench/fleet/statements.mjs';
import { textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { addKey, listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { queryPostgres } from '../../support/query-postgres.ts';
import { RawClient } from '../../support/raw-client.ts';
import type { Era } from '../../support/raw-messages.ts';
import { type RawTransport, httpTransport } from '../../support/raw-transports.ts';
import { startFleet } from './fleet.ts';
import { waitUntilStable } from './wait-until-stable.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

const WARM = 10;
const CALLS = 300;
const patience = { withinMs: 40_000 };

function withKey(key: string, transport: RawTransport): RawTransport {
  const authorization = `Bearer ${key}`;
  return {
    ...transport,
    send: (text, options) =>
      transport.send(text, { ...options, headers: { ...options.headers, authorization } }),
  };
}

/** Counts the audited calls with a statement that is not in the statement log itself. */
async function countRecords(url: string): Promise<number> {
  const [row] = await queryPostgres<{ count: string }>(
    `${url}?options=${encodeURIComponent('-c log_statement=none')}`,
    `select count(*) as count from audit where entry = 'echo'`,
  );
  return Number(row?.count);
}

async function callMany(client: RawClient, count: number): Promise<void> {
  const texts = Array.from({ length: count }, (_, at) => `${client.era} ${at}`);
  const lanes = Array.from({ length: 5 }, async (_, lane) => {
    for (const text of texts.filter((_text, at) => at % 5 === lane))
      expect(textOfResult(await client.callTool('plain__echo', { text }))).toBe(text);
  });
  await Promise.all(lanes);
}

test('call: sends no database query for a known session and key, and is audited in batches', async () => {
  const database = await (await sharedPostgres()).newLoggedDatabase();
  await using fleet = await startFleet(2, {
    mcpServers: { plain: fixture('plain') },
    config: { auth: { keys: true } },
    storageUrl: database.url,
  });
  const [one] = fleet.replicas;
  if (one === undefined) throw new Error('There is none.');
  const key = await addKey(one, 'anna');
  for (const { url } of fleet.replicas)
    await eventually(
      async () => expect(await listToolNamesAt(url, { key })).toContain('plain__echo'),
      patience,
    );
  const open = (era: Era) => RawClient.over(withKey(key, httpTransport(fleet.url)), { era });
  await using legacy = await open('legacy');
  await using modern = await open('modern');
  for (const client of [legacy, modern]) {
    await client.open();
    await callMany(client, WARM);
  }
  const statements = () => withKinds(database.statements());
  await eventually(async () => expect(await countRecords(database.url)).toBe(2 * WARM), patience);
  // The gateways still store data after their start, for example the listings of servers.
  await waitUntilStable(() => countKinds(statements()).other);
  const before = statements().length;
  const since = performance.now();

  for (const client of [legacy, modern]) {
    const from = fleet.balancer.served.length;
    await callMany(client, CALLS);
    expect(new Set(fleet.balancer.served.slice(from))).toEqual(new Set([0, 1]));
  }

  await eventually(async () => expect(await countRecords(database.url)).toBe(2 * (WARM + CALLS)), patience);
  const during = statements().slice(before);
  expect(during.filter(({ kind }) => kind === 'other').map(({ text }) => text)).toEqual([]);
  const { batches, beat, upkeep } = countKinds(during);
  // Their number depends on the elapsed time and not on the number of calls.
  const seconds = (performance.now() - since) / 1000;
  expect(beat + upkeep).toBeLessThan(20 + 5 * seconds);
  // The statement log was read, and a batch contains more than one record.
  expect(batches).toBeGreaterThan(0);
  expect(batches).toBeLessThan(2 * CALLS);
});
