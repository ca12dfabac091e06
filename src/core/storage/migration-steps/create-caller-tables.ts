import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the tables of keys, and of the registrations, grants and tokens of our authorization server. Secrets are stored as hashes. */
export async function createCallerTables({ schema }: Transaction<Tables>): Promise<void> {
  await schema
    .createTable('caller_keys')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('expires_at', 'integer')
    .addColumn('used_at', 'integer')
    .execute();
  await schema
    .createTable('client_registrations')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .addColumn('agreed_at', 'integer')
    .execute();
  await schema
    .createTable('client_grants')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('client', 'text', (column) => column.notNull())
    .addColumn('key_id', 'text', (column) => column.notNull())
    .addColumn('resource', 'text', (column) => column.notNull())
    .addColumn('created_at', 'integer', (column) => column.notNull())
    .execute();
  await schema
    .createTable('client_tokens')
    .addColumn('id', 'text', (column) => column.primaryKey())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('grant_id', 'text', (column) => column.notNull())
    .addColumn('hash', 'text', (column) => column.notNull())
    .addColumn('expires_at', 'integer', (column) => column.notNull())
    .addColumn('spent_at', 'integer')
    .execute();
  await schema.createIndex('client_tokens_of_grant').on('client_tokens').column('grant_id').execute();
}
