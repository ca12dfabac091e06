import { randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { startAsking, toolsAt } from '../support/http-caller.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { queried } from '../support/queried.ts';
import { startFleet } from './fleet.ts';

checkLeaks();

const patience = { withinMs: 40_000 };

interface Row {
  readonly id: string;
  readonly address: string;
}

function members(url: string): Promise<readonly Row[]> {
  return queried<Row>(url, 'select id, address from replicas order by id');
}

test('replicas join with an address each, one that stops leaves, and one that was killed is taken for gone', async () => {
  await using fleet = await startFleet(3, { mcpServers: {}, config: { log: { level: 'debug' } } });
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
  await fleet.replicas[0]?.stop();
  expect(await members(fleet.storageUrl)).toHaveLength(2);
  await fleet.replicas[1]?.kill();
  // Its row stays for a while, and a new one joins all the same.
  await fleet.restart(0);
  await untilThereAre(3);
}, 240_000);

test('a gateway with another key is told so, and serves without being one of them', async () => {
  await using fleet = await startFleet(1, { mcpServers: {} });
  const storage = { url: fleet.storageUrl, key: '${env:OTHER}' };
  const config = { storage, startup: { listWait: '10s' } };
  const OTHER = randomBytes(32).toString('base64');
  await using stranger = await startAsking(config, { env: { OTHER } });
  await eventually(() => expect(stranger.stderr()).toContain('has another key'), patience);
  expect(stranger.stderr()).not.toContain(OTHER);
  expect(await members(fleet.storageUrl)).toHaveLength(1);
  await eventually(async () => expect(await toolsAt(stranger.url)).toContain('plain__echo'), patience);
  // When those with the other key are gone, there is no other key.
  await fleet.replicas[0]?.stop();
  await eventually(() => expect(stranger.stderr()).toContain('Joined the fleet'), patience);
}, 240_000);

test('a key that is too short, or written into the file, is no key', async () => {
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
