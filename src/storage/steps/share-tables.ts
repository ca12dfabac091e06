import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Which gateway has how much of a limit that all of them share. */
export async function shareTables({ schema }: Transaction<Tables>): Promise<void> {
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
