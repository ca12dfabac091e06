import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { storeError } from '../../core/storage/store-error.ts';
import type { StoreLocation } from '../../core/storage/store-location.ts';
import { createListingTurns } from './listing-turns.ts';

const server = 'it' as UpstreamName;

eachEngine((_engine, newStore) => {
  /** Creates a gateway whose `list` records its name; all gateways share `world.stored`. */
  const openGateway = async (
    store: StoreLocation,
    world: { stored: boolean; listed: string[] },
    name: string,
  ) => {
    const database = await openDatabase(store);
    onTestFinished(() => database[Symbol.asyncDispose]());
    let has = false;
    const listInTurn = createListingTurns({
      database: () => Promise.resolve(database),
      fingerprint: () => 'f',
      has: () => Promise.resolve(has),
      cache: {
        reload: async () => void (has ||= world.stored),
        flush: async () => void (world.stored = true),
      },
      listMs: () => 5e3,
      pid: process.pid,
      now: Date.now,
      signal: new AbortController().signal,
    });
    const list = async (): Promise<void> => {
      world.listed.push(name);
      await new Promise((resolve) => setTimeout(resolve, 20));
      has = true;
    };
    return { listInTurn, list, has: () => has };
  };

  test('listing turn: lets one replica list a server and shares the listing with the others', async () => {
    const store = await newStore(temporaryFolder('turns'));
    const world = { stored: false, listed: [] as string[] };
    const gateways = await Promise.all(['a', 'b', 'c'].map((name) => openGateway(store, world, name)));
    await Promise.all(gateways.map(({ listInTurn, list }) => listInTurn(server, list)));
    expect(world.listed).toHaveLength(1);
    expect(gateways.map(({ has }) => has())).toEqual([true, true, true]);
  });

  test('listing turn: passes to the next replica when listing fails or nothing was stored', async () => {
    const store = await newStore(temporaryFolder('turns'));
    const world = { stored: false, listed: [] as string[] };
    const [one, other] = [await openGateway(store, world, 'a'), await openGateway(store, world, 'b')];
    await expect(one.listInTurn(server, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await other.listInTurn(server, other.list);
    expect(world.listed).toEqual(['b']);
    world.stored = false;
    await one.listInTurn(server, one.list);
    expect(world.listed).toEqual(['b', 'a']);
  });
});

test('listing turn: lets every replica list for itself without the database', async () => {
  const listed: string[] = [];
  const listInTurn = createListingTurns({
    database: () => Promise.reject(storeError('away', {})),
    fingerprint: () => 'f',
    has: () => Promise.resolve(false),
    listMs: () => 1e3,
    pid: 1,
    now: Date.now,
    cache: {
      reload: async () => {},
      flush: async () => {},
    },
    signal: new AbortController().signal,
  });
  await listInTurn(server, async () => void listed.push('it'));
  expect(listed).toEqual(['it']);
});
