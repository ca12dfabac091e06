import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of decisions: at most one approved and one refused definition of each entry. */
export async function createApprovalTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('approvals')
    .addColumn('upstream', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('definition', 'text', (column) => column.notNull())
    .addColumn('decided_at', 'bigint', (column) => column.notNull())
    .addColumn('decided_by', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('approvals_key', ['upstream', 'kind', 'name', 'state'])
    .execute();
}
