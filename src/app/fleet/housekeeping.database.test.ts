import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { silentLogger } from '../../observability/log.ts';
import { openDatabase } from '../../core/storage/database.ts';
import { Housekeeping } from './housekeeping.ts';

eachEngine((_engine, newStore) => {
  test('housekeeping: removes expired rows only, and a second instance takes over when the first ends', async () => {
    const database = await openDatabase(await newStore(temporaryFolder('house')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { query } = database;
    const DAY = 24 * 3_600_000;
    const now = 10 * DAY;
    const addResult = (id: string, expires_at: number) =>
      query
        .insertInto('kept_results')
        .values({ id, owner: 'o', body: 'text', bytes: 4, expires_at })
        .execute();
    const addStep = (id: string, expires_at: number) =>
      query.insertInto('client_steps').values({ id, kind: 'code', body: '{}', expires_at }).execute();
    const readBodies = async () =>
      Object.fromEntries(
        (await query.selectFrom('kept_results').selectAll().execute()).map(({ id, body }) => [id, body]),
      );
    const startHousekeeping = () =>
      new Housekeeping({
        database: () => Promise.resolve(database),
        now: () => now,
        log: silentLogger,
        everyMs: 20,
      });
    await Promise.all([
      addResult('good', now + 1),
      addResult('over', now - 1),
      addResult('old', now - 2 * DAY),
    ]);
    await Promise.all([addStep('good', now + 1), addStep('over', now - 1)]);
    const first = startHousekeeping();
    await eventually(async () => expect(await readBodies()).toEqual({ good: 'text', over: '' }));
    await eventually(async () =>
      expect(await query.selectFrom('client_steps').select('id').execute()).toEqual([{ id: 'good' }]),
    );
    await first[Symbol.asyncDispose]();
    await addResult('next', now - 1);
    await using _second = startHousekeeping();
    await eventually(async () => expect(await readBodies()).toEqual({ good: 'text', over: '', next: '' }));
  });
});
