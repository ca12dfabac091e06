import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of the times when periodic chores were last done. One process does each chore for all processes on the database. */
export async function createChoreTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('chores')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('done_at', 'bigint', (column) => column.notNull())
    .execute();
}
