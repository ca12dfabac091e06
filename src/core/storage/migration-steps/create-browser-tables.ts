import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/**
 * Creates the tables of browser sessions, which are valid at the dashboards of all gateways on the database, and of sign-in links. Both
 * contain only hashes.
 */
export async function createBrowserTables({ schema }: Transaction<Tables>): Promise<void> {
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
