import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** What our authorization server remembers between two requests, where the second may come to another gateway. */
export async function clientStepTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('client_steps')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .execute();
}
