import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the tables that several gateways on one database share: the change counters of topics, and stored results. */
export async function createChangeAndResultTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('changes')
    .addColumn('topic', 'text', (column) => column.primaryKey())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('kept_results')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('kept_results_expiry').on('kept_results').column('expires_at').execute();
}
