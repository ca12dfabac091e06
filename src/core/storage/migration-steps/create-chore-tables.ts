import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of periodic chores, which one process does for all on the database, with the times when they were last done. */
export async function createChoreTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('chores')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('done_at', 'bigint', (column) => column.notNull())
    .execute();
}
