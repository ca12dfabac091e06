import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the tables of the gateways of a fleet, and of the owners of servers that run only once in the fleet. */
export async function createFleetTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('replicas')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('version', 'text', (column) => column.notNull())
    .addColumn('key_check', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'integer', (column) => column.notNull())
    .execute();
  await schema
    .createTable('ownerships')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('until', 'integer', (column) => column.notNull())
    .execute();
}
