import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of servers that were added or changed at run time, for all gateways on the database. */
export async function createRuntimeServerTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('runtime_servers')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .execute();
}
