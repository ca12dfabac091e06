import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../test/support/each-engine.ts';
import { eventually } from '../../test/support/eventually.ts';
import { temporaryFolder } from '../../test/support/test-run.ts';
import { openDatabase } from '../core/storage/database.ts';
import { databaseTime } from '../core/storage/database-time.ts';
import { silentLogger } from '../observability/log.ts';
import { Replicas } from './replicas.ts';

eachEngine((_engine, newStore) => {
  const openFleet = async () => {
    const store = await newStore(temporaryFolder('replicas'));
    const database = await openDatabase(store);
    onTestFinished(() => database[Symbol.asyncDispose]());
    const warnings: string[] = [];
    const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const createReplica = (id: string, keyCheck = 'same'): Replicas =>
      new Replicas({
        self: {
          id,
          address: `127.0.0.1:${id.length}`,
          version: '1',
        },
        keyCheck,
        log,
        database: () => Promise.resolve(database),
      });
    /** Makes a replica look silent for `forMs`. */
    const silence = (id: string, forMs: number): Promise<unknown> =>
      database.query
        .updateTable('replicas')
        .set(({ eb }) => ({ seen_at: eb('seen_at', '-', forMs) }))
        .where('id', '=', id)
        .execute();
    const readIds = async (): Promise<readonly string[]> =>
      (await database.query.selectFrom('replicas').select('id').orderBy('id').execute()).map(({ id }) => id);
    return { createReplica, silence, readIds, database, warnings };
  };

  test('replicas: discover each other and report who joins and leaves', async () => {
    const { createReplica } = await openFleet();
    const [one, two] = [createReplica('a'), createReplica('bb')];
    let changes = 0;
    using _listener = one.onChange(() => changes++);
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

  test('replicas: drop a silent replica until it is seen again', async () => {
    const { createReplica, silence, readIds } = await openFleet();
    const [one, two] = [createReplica('a'), createReplica('bb')];
    await one.join();
    await two.join();
    await silence('bb', 7000);
    await eventually(async () => {
      await one.refresh();
      expect(one.others()).toEqual([]);
    });
    await two.beat();
    await one.refresh();
    expect(one.others()).toEqual([two.self]);
    await silence('bb', 70_000);
    await createReplica('ccc').join();
    expect(await readIds()).toEqual(['a', 'ccc']);
  });

  test('replicas: reject a different key while others are alive and never see replicas of another key', async () => {
    const { createReplica, silence, readIds } = await openFleet();
    const [one, other] = [createReplica('a'), createReplica('bb', 'another')];
    await one.join();
    await expect(other.join()).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
    expect(await readIds()).toEqual(['a']);
    await silence('a', 7000);
    await other.join();
    await one.beat();
    expect([one.others(), other.others()]).toEqual([[], []]);
  });

  test('replicas: ignore rows that no gateway writes, and say so once', async () => {
    const { createReplica, database, warnings } = await openFleet();
    const [one, two] = [createReplica('a'), createReplica('bb')];
    await one.join();
    await two.join();
    const now = databaseTime(database);
    const plant = (id: string, row: object) =>
      database.query
        .insertInto('replicas')
        .values({ id, address: '10.0.0.1:1', version: '1', key_check: 'same', seen_at: now, ...row })
        .execute();
    await plant('long-address', { address: `${'x'.repeat(1_000_000)}:1` });
    await plant('x'.repeat(100_000), {});
    await plant('../x', {});
    await plant('escape\u001b[2J', {});
    await plant("'; drop table replicas; --", {});
    await plant('no-port', { address: '10.0.0.1' });
    await plant('wrong-port', { address: '10.0.0.1:99999' });
    await plant('controls', { address: '10.0.0.1\u001b[2J:1' });
    await plant('from-the-future', { seen_at: Number.MAX_SAFE_INTEGER });
    await one.beat();
    await one.beat();
    expect(one.others()).toEqual([two.self]);
    expect(warnings.filter((message) => message.includes('replicas'))).toHaveLength(1);
    for (let at = 0; at < 400; at++) await plant(`many-${at}`, {});
    await one.beat();
    expect(one.others().length).toBeLessThanOrEqual(256);
  });

  test('replicas: name no address of a planted row when they refuse to join', async () => {
    const { createReplica, database } = await openFleet();
    const row = {
      id: 'planted',
      address: `\u001b[2J${'x'.repeat(100_000)}`,
      version: '1',
      key_check: 'another',
    };
    await database.query
      .insertInto('replicas')
      .values({ ...row, seen_at: databaseTime(database) })
      .execute();
    const error = await createReplica('a')
      .join()
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'CONFIG_INVALID' });
    expect(String(error)).not.toContain('\u001b');
    expect(String(error).length).toBeLessThan(1000);
  });
});
