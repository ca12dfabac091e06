import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { openDatabase } from '../../core/storage/database.ts';
import type { Database } from '../../core/storage/database.ts';
import { storeError } from '../../core/storage/store-error.ts';
import { MemoryResultStore } from './memory-result-store.ts';
import { SharedResultStore } from './shared-result-store.ts';

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const place = await newStore(temporaryFolder('results'));
    const clock = { now: 1000, isAway: false };
    const options = { keepMs: 100, maxBytes: 1000, now: () => clock.now };
    const open = async (): Promise<SharedResultStore> => {
      const database = await openDatabase(place);
      onTestFinished(() => database[Symbol.asyncDispose]());
      const get = (): Promise<Database> =>
        clock.isAway ? Promise.reject(storeError('away', {})) : Promise.resolve(database);
      return new SharedResultStore(
        { ...options, database: get },
        new MemoryResultStore({ ...options, maxCount: 10 }),
      );
    };
    return { clock, one: await open(), other: await open() };
  };

  test('shared store: lets another gateway read a result, for its owner only', async () => {
    const { one, other } = await opened();
    const kept = (await one.keep('anna', '{"a":"\\u0000é"}'))!;
    expect(await other.find('anna', kept.id)).toEqual({ state: 'kept', result: kept });
    expect(await other.find('bert', kept.id)).toEqual({ state: 'unknown' });
    const first = await other.find('anna', kept.id);
    const second = await other.find('anna', kept.id);
    expect(first.state === 'kept' && second.state === 'kept' && first.result === second.result).toBe(true);
  });

  test('shared store: expires a result after its last read, and only the owner learns of it', async () => {
    const { one, other, clock } = await opened();
    const { id } = (await one.keep('anna', 'a'))!;
    clock.now += 90;
    expect(await other.find('anna', id)).toMatchObject({ state: 'kept' });
    clock.now += 90;
    expect(await one.find('anna', id)).toMatchObject({ state: 'kept' });
    clock.now += 100;
    await one.keep('bert', 'b');
    expect(await one.find('anna', id)).toEqual({ state: 'gone' });
    expect(await other.find('anna', id)).toEqual({ state: 'gone' });
    expect(await other.find('bert', id)).toEqual({ state: 'unknown' });
  });

  test('shared store: evicts from the caller that uses most space', async () => {
    const { one, other, clock } = await opened();
    const ids: string[] = [];
    for (const owner of ['anna', 'bert', 'bert', 'carl']) {
      clock.now++;
      ids.push((await one.keep(owner, 'x'.repeat(300)))!.id);
    }
    const states = ids.map(
      async (id, at) => (await other.find(['anna', 'bert', 'bert', 'carl'][at]!, id)).state,
    );
    expect(await Promise.all(states)).toEqual(['kept', 'gone', 'kept', 'kept']);
    expect(await one.keep('anna', 'x'.repeat(1001))).toBeUndefined();
  });

  test('shared store: falls back to memory while the database is unreachable', async () => {
    const { one, clock } = await opened();
    clock.isAway = true;
    const kept = (await one.keep('anna', 'a'))!;
    expect(await one.find('anna', kept.id)).toMatchObject({ state: 'kept' });
    await expect(one.find('anna', 'r_other')).rejects.toMatchObject({ code: 'STORE_AWAY' });
  });
});
