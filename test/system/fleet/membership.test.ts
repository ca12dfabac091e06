import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { readAdminKey } from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import { sendRequest, startGatewayWithAuth, listToolNamesAt } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { queryPostgres } from '../../support/query-postgres.ts';
import { startFleet } from './fleet.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();

const patience = { withinMs: 40_000 };

interface Row {
  readonly id: string;
  readonly address: string;
}

function members(url: string): Promise<readonly Row[]> {
  return queryPostgres<Row>(url, 'select id, address from replicas order by id');
}

interface Fleet {
  readonly replica: string;
  readonly others: readonly { readonly id: string }[];
}

/** Returns the id of a replica and the other replicas that it considers running. */
async function readFleetStatus({ url, home }: RunningGateway): Promise<Fleet> {
  const { text } = await sendRequest(new URL('/api/status', url), { key: readAdminKey(home) });
  return (JSON.parse(text) as { fleet: Fleet }).fleet;
}

test('fleet membership: adds starting replicas, removes stopped ones and ignores killed ones', async () => {
  await using fleet = await startFleet(3, { mcpServers: {} });
  const untilThereAre = (count: number) =>
    eventually(async () => {
      const all = await members(fleet.storageUrl);
      expect(all).toHaveLength(count);
      return all;
    }, patience);
  const all = await untilThereAre(3);
  expect(new Set(all.map(({ address }) => address)).size).toBe(3);
  for (const { id, address } of all) {
    expect(id).toMatch(/^[a-z2-7]{8}$/);
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/);
  }
  const [stopped, killed, survivor] = fleet.replicas as readonly [
    RunningGateway,
    RunningGateway,
    RunningGateway,
  ];
  const { replica: killedId } = await readFleetStatus(killed);
  await stopped.stop();
  expect(await members(fleet.storageUrl)).toHaveLength(2);
  await killed.kill();
  const joined = await fleet.restart(0);
  const ids = [(await readFleetStatus(survivor)).replica, (await readFleetStatus(joined)).replica];
  await eventually(async () => {
    expect((await readFleetStatus(survivor)).others.map(({ id }) => id)).toEqual([ids[1]]);
    expect((await readFleetStatus(joined)).others.map(({ id }) => id)).toEqual([ids[0]]);
  }, patience);
  // The row of the killed replica still exists, so the others ignore it because of its age.
  const rows = (await members(fleet.storageUrl)).map(({ id }) => id);
  expect(new Set(rows)).toEqual(new Set([killedId, ...ids]));
});

test('fleet membership: excludes a gateway with a different key until the others are gone', async () => {
  await using fleet = await startFleet(1, { mcpServers: {} });
  const storage = { url: fleet.storageUrl, key: '${env:OTHER}' };
  const config = { storage, startup: { listWait: '60s' } };
  const OTHER = randomBytes(32).toString('base64');
  await using stranger = await startGatewayWithAuth(config, { env: { OTHER } });
  await eventually(() => expect(stranger.stderr()).toContain('with another key'), patience);
  expect(stranger.stderr()).not.toContain(OTHER);
  expect(await members(fleet.storageUrl)).toHaveLength(1);
  await eventually(
    async () => expect(await listToolNamesAt(stranger.url)).toContain('plain__echo'),
    patience,
  );
  // Once the replicas with the other key are gone, its own key is the only one.
  await fleet.replicas[0]?.stop();
  await eventually(() => expect(stranger.stderr()).toContain('Joined the fleet'), patience);
});

test('fleet key: is rejected when it is too short or written in the config file', async () => {
  const key = 'short-but-secret';
  const starting = startFleet(1, { mcpServers: {}, env: { TRUNKLINE_KEY: key } });
  const refused = await starting.then(
    () => 'It started.',
    (error: unknown) => String(error),
  );
  expect(refused).toContain('too short for a key');
  expect(refused).not.toContain(key);
  const plain = startFleet(1, {
    mcpServers: {},
    config: { storage: { key: randomBytes(32).toString('hex') } },
  });
  await expect(plain).rejects.toThrow(/storage.key|must be a reference/);
});
