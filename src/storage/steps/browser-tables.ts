import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Browsers that are signed in to the dashboard of all gateways of one database, and links that sign one in; both as hashes. */
export async function browserTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('browser_sessions')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('used_at', 'bigint', (column) => column.notNull())
    .execute();
  await schema
    .createTable('browser_tickets')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
}
