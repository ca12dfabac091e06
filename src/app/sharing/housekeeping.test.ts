import { expect, onTestFinished, test } from 'vitest';

import { eachEngine } from '../../../test/support/each-engine.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../test/support/test-run.ts';
import { silentLogger } from '../../observe/log.ts';
import { openDatabase } from '../../storage/database.ts';
import { Housekeeping } from './housekeeping.ts';

eachEngine((_engine, newStore) => {
  test('removes what is over and nothing else, also when the one that did it before is gone', async () => {
    const database = await openDatabase(await newStore(temporaryFolder('house')));
    onTestFinished(() => database[Symbol.asyncDispose]());
    const { query } = database;
    const DAY = 24 * 3_600_000;
    const now = 10 * DAY;
    const keep = (id: string, expires_at: number) =>
      query
        .insertInto('kept_results')
        .values({ id, owner: 'o', body: 'text', bytes: 4, expires_at })
        .execute();
    const step = (id: string, expires_at: number) =>
      query.insertInto('client_steps').values({ id, kind: 'code', body: '{}', expires_at }).execute();
    const bodies = async () =>
      Object.fromEntries(
        (await query.selectFrom('kept_results').selectAll().execute()).map(({ id, body }) => [id, body]),
      );
    const open = () =>
      new Housekeeping({
        ...{ database: () => Promise.resolve(database), now: () => now, log: silentLogger, everyMs: 20 },
      });
    await Promise.all([keep('good', now + 1), keep('over', now - 1), keep('old', now - 2 * DAY)]);
    await Promise.all([step('good', now + 1), step('over', now - 1)]);
    const first = open();
    await eventually(async () => expect(await bodies()).toEqual({ good: 'text', over: '' }));
    await eventually(async () =>
      expect(await query.selectFrom('client_steps').select('id').execute()).toEqual([{ id: 'good' }]),
    );
    await first[Symbol.asyncDispose]();
    await keep('next', now - 1);
    await using _second = open();
    await eventually(async () => expect(await bodies()).toEqual({ good: 'text', over: '', next: '' }));
  });
});
