import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates two tables: the settings of legacy sessions, and the gateway that holds the stream of each session. */
export async function createSessionTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('sessions')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('revision', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema.createIndex('sessions_revision').on('sessions').column('revision').execute();
  await schema
    .createTable('session_streams')
    .addColumn('session', 'text', (column) => column.primaryKey())
    .addColumn('replica', 'text', (column) => column.notNull())
    .addColumn('opened_at', 'bigint', (column) => column.notNull())
    .execute();
}
