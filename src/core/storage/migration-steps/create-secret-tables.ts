import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of the secrets that a person stored under a name. */
export async function createSecretTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('secrets')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text')
    .addColumn('saved_at', 'bigint', (column) => column.notNull())
    .execute();
}
