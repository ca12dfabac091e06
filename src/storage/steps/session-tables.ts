import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** What clients of the older protocol have set in their sessions, and which gateway holds the stream of each. */
export async function sessionTables({ schema }: Transaction<Tables>): Promise<void> {
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
