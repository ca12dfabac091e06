import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** What one process does for all that share a database, and when it was last done. */
export async function choreTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('chores')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('done_at', 'bigint', (column) => column.notNull())
    .execute();
}
