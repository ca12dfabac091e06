import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table that holds the share of each gateway in the limits of the whole fleet. */
export async function createLimitShareTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('shares')
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('replica', 'text', (column) => column.notNull())
    .addColumn('share', 'integer', (column) => column.notNull())
    .addColumn('wanted', 'integer', (column) => column.notNull())
    .addColumn('until', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('shares_of', ['name', 'replica'])
    .execute();
}
