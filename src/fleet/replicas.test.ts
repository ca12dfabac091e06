import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/test-run.ts';
import { openDatabase } from '../storage/database.ts';
import { Replicas } from './replicas.ts';

eachEngine((_engine, newStore) => {
  const opened = async () => {
    const place = await newStore(temporaryFolder('replicas'));
    const database = await openDatabase(place);
    onTestFinished(() => database[Symbol.asyncDispose]());
    const replica = (id: string, keyCheck = 'same'): Replicas =>
      new Replicas({
        self: { id, address: `127.0.0.1:${id.length}`, version: '1' },
        ...{ keyCheck, database: () => Promise.resolve(database) },
      });
    /** As if it had not been heard of for so long. */
    const silent = (id: string, forMs: number): Promise<unknown> =>
      database.query
        .updateTable('replicas')
        .set(({ eb }) => ({ seen_at: eb('seen_at', '-', forMs) }))
        .where('id', '=', id)
        .execute();
    const ids = async (): Promise<readonly string[]> =>
      (await database.query.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id);
    return { replica, silent, ids };
  };

  test('those that join know each other, and hear of who comes and goes', async () => {
    const { replica } = await opened();
    const [one, two] = [replica('a'), replica('bb')];
    let changes = 0;
    using _listening = one.onChange(() => changes++);
    await one.join();
    expect(one.others()).toEqual([]);
    expect(one.find('a')).toBe(one.self);
    await two.join();
    await one.beat();
    expect(one.others()).toEqual([two.self]);
    expect(one.find('bb')).toEqual(two.self);
    expect(two.find('a')).toEqual(one.self);
    await one.beat();
    expect(changes).toBe(1);
    await two.leave();
    await one.beat();
    expect(one.find('bb')).toBeUndefined();
    expect(changes).toBe(2);
  });

  test('one that is silent for too long is gone until it is heard of again', async () => {
    const { replica, silent, ids } = await opened();
    const [one, two] = [replica('a'), replica('bb')];
    await one.join();
    await two.join();
    await silent('bb', 7000);
    await eventually(async () => {
      await one.look();
      expect(one.others()).toEqual([]);
    });
    await two.beat();
    await one.look();
    expect(one.others()).toEqual([two.self]);
    await silent('bb', 70_000);
    await replica('ccc').join();
    expect(await ids()).toEqual(['a', 'ccc']);
  });

  test('another key than that of those who live is refused, and none of them is seen', async () => {
    const { replica, silent, ids } = await opened();
    const [one, other] = [replica('a'), replica('bb', 'another')];
    await one.join();
    await expect(other.join()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await ids()).toEqual(['a']);
    await silent('a', 7000);
    await other.join();
    await one.beat();
    expect([one.others(), other.others()]).toEqual([[], []]);
  });
});
