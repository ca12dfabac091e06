import { sql } from 'kysely';

import type { Database } from './database.ts';
import { databaseTime } from './database-time.ts';

interface Chore {
  readonly name: string;
  /** How often it is to be done, by all processes together. */
  readonly everyMs: number;
  /** By the clock of the database unless told. */
  readonly now?: number;
}

/** Whether it is to be done now, and by us: of all who ask, one is told so in each period. Whoever dies over it is followed in the next. */
export async function claimChore(database: Database, { name, everyMs, ...at }: Chore): Promise<boolean> {
  const now = at.now === undefined ? databaseTime(database) : sql<number>`cast(${at.now} as bigint)`;
  const row = await database.query
    .insertInto('chores')
    .values({ name, done_at: now })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ done_at: now })
        .where(({ eb }) => eb('chores.done_at', '<=', eb(now, '-', everyMs))),
    )
    .returning('name')
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether it was done so lately that it need not be done again; for chores that count as done only when they have succeeded. */
export async function isChoreDone(database: Database, { name, everyMs }: Chore): Promise<boolean> {
  const row = await database.query
    .selectFrom('chores')
    .select('name')
    .where('name', '=', name)
    .where(({ eb }) => eb('done_at', '>', eb(databaseTime(database), '-', everyMs)))
    .executeTakeFirst();
  return row !== undefined;
}

export async function noteChore(database: Database, name: string): Promise<void> {
  const done_at = databaseTime(database);
  await database.query
    .insertInto('chores')
    .values({ name, done_at })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ done_at }))
    .execute();
}
