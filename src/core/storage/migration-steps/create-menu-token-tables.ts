import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the table of tokens that tool lists and searches cost clients per day. */
export async function createMenuTokenTables({ schema }: Transaction<Tables>): Promise<void> {
  let tokens = schema.createTable('menu_tokens').addColumn('day', 'text', (column) => column.primaryKey());
  for (const name of ['whole', 'menu', 'search', 'lists', 'searches'] as const)
    tokens = tokens.addColumn(name, 'bigint', (column) => column.notNull());
  await tokens.execute();
}
