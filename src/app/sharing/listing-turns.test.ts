import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { openDatabase } from '../../storage/database.ts';
import { storeError } from '../../storage/store-error.ts';
import type { StorePlace } from '../../storage/store-place.ts';
import { listingTurns } from './listing-turns.ts';

const it = 'it' as UpstreamName;

eachEngine((_engine, newStore) => {
  /** A gateway that lists by noting so, and that has what any of them stored. */
  const gateway = async (place: StorePlace, world: { stored: boolean; listed: string[] }, name: string) => {
    const database = await openDatabase(place);
    onTestFinished(() => database[Symbol.asyncDispose]());
    let has = false;
    const turn = listingTurns({
      database: () => Promise.resolve(database),
      fingerprint: () => 'f',
      has: () => Promise.resolve(has),
      cache: {
        look: async () => void (has ||= world.stored),
        flush: async () => void (world.stored = true),
      },
      ...{ listMs: () => 5000, pid: process.pid, now: Date.now, signal: new AbortController().signal },
    });
    const list = async (): Promise<void> => {
      world.listed.push(name);
      await new Promise((resolve) => setTimeout(resolve, 20));
      has = true;
    };
    return { turn, list, has: () => has };
  };

  test('one lists, and the others have what it found', async () => {
    const place = await newStore(temporaryFolder('turns'));
    const world = { stored: false, listed: [] as string[] };
    const all = await Promise.all(['a', 'b', 'c'].map((name) => gateway(place, world, name)));
    await Promise.all(all.map(({ turn, list }) => turn(it, list)));
    expect(world.listed).toHaveLength(1);
    expect(all.map(({ has }) => has())).toEqual([true, true, true]);
  });

  test('where the first one fails, the next one tries; where nothing was stored, everybody lists', async () => {
    const place = await newStore(temporaryFolder('turns'));
    const world = { stored: false, listed: [] as string[] };
    const [one, other] = [await gateway(place, world, 'a'), await gateway(place, world, 'b')];
    await expect(one.turn(it, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await other.turn(it, other.list);
    expect(world.listed).toEqual(['b']);
    world.stored = false;
    await one.turn(it, one.list);
    expect(world.listed).toEqual(['b', 'a']);
  });
});

test('without the database everybody lists for themselves', async () => {
  const listed: string[] = [];
  const turn = listingTurns({
    database: () => Promise.reject(storeError('away', {})),
    ...{
      fingerprint: () => 'f',
      has: () => Promise.resolve(false),
      listMs: () => 1000,
      pid: 1,
      now: Date.now,
    },
    cache: { look: async () => {}, flush: async () => {} },
    signal: new AbortController().signal,
  });
  await turn(it, async () => void listed.push('it'));
  expect(listed).toEqual(['it']);
});
