import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the tables for signing in to upstreams; `body` of the first two is encrypted. */
export async function createSignInTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('sign_ins')
    .addColumn('upstream', 'text', (column) => column.notNull())
    .addColumn('caller', 'text', (column) => column.notNull())
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('saved_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('sign_ins_key', ['upstream', 'caller'])
    .execute();
  await schema
    .createTable('oauth_clients')
    .addColumn('issuer', 'text', (column) => column.notNull())
    .addColumn('upstream', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('saved_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('oauth_clients_key', ['issuer', 'upstream'])
    .execute();
  await schema
    .createTable('sign_in_notes')
    .addColumn('upstream', 'text', (column) => column.notNull())
    .addColumn('caller', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('noted_at', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('sign_in_notes_key', ['upstream', 'caller'])
    .execute();
  await schema
    .createTable('leases')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('owner', 'text', (column) => column.notNull())
    .addColumn('until', 'integer', (column) => column.notNull())
    .execute();
}
