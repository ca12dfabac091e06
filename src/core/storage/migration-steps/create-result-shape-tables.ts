import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of the keys and types that results of tools had. */
export async function createResultShapeTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('result_shapes')
    .addColumn('upstream', 'text', (column) => column.notNull())
    .addColumn('tool', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('saved_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('result_shapes_of', ['upstream', 'tool'])
    .execute();
}
