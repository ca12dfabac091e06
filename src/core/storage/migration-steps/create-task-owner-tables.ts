import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of the callers that started tasks, so that a task stays with its caller after a restart and at other gateways. */
export async function createTaskOwnerTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('task_owners')
    .addColumn('task', 'text', (column) => column.notNull())
    .addColumn('upstream', 'text', (column) => column.notNull())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('task_owners_of', ['task', 'upstream'])
    .execute();
  await schema
    .createIndex('task_owners_by_owner')
    .on('task_owners')
    .columns(['owner', 'expires_at'])
    .execute();
}
