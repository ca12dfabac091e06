import { sql } from 'kysely';

import type { Database } from './database.ts';
import { databaseTime } from './database-time.ts';

interface Chore {
  readonly name: string;
  /** The period in which one of the processes does the chore once. */
  readonly everyMs: number;
  /** The current time in milliseconds since 1970. The default is the time of the database. */
  readonly now?: number;
}

/** Claims a periodic chore. Resolves to true for one process per period. If that process dies, the chore waits for the next period. */
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

/** Whether the chore succeeded within the last period; for chores that are recorded with `noteChore` after they succeeded. */
export async function isChoreDone(database: Database, { name, everyMs }: Chore): Promise<boolean> {
  const row = await database.query
    .selectFrom('chores')
    .select('name')
    .where('name', '=', name)
    .where(({ eb }) => eb('done_at', '>', eb(databaseTime(database), '-', everyMs)))
    .executeTakeFirst();
  return row !== undefined;
}

/** Records that a chore has succeeded now. */
export async function noteChore(database: Database, name: string): Promise<void> {
  const done_at = databaseTime(database);
  await database.query
    .insertInto('chores')
    .values({ name, done_at })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ done_at }))
    .execute();
}
