import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Servers that were changed by program, for all gateways that share the database. */
export async function runtimeServerTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('runtime_servers')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .execute();
}
