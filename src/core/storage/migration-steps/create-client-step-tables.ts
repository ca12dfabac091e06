import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/**
 * Creates the table of the state that our authorization server keeps between two requests, because another gateway may receive the second
 * one.
 */
export async function createClientStepTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('client_steps')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
}
