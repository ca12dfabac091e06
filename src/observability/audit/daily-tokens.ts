import { sql } from 'kysely';

import type { Database } from '../../core/storage/database.ts';

/** The estimated tokens that clients received on one day to learn about the tools. */
export interface DailyTokens {
  /** The date in the form `2026-01-31`. */
  readonly day: string;
  /** The cost of listing every tool in full. */
  readonly whole: number;
  /** The cost of the listings that were sent. */
  readonly menu: number;
  /** The cost of searches and descriptions. */
  readonly search: number;
  readonly lists: number;
  readonly searches: number;
}

/** The maximum number of days that a query returns. */
const MAX_DAYS = 400;

/** Adds to the counts of a day. Other processes may add at the same time. */
export async function addDailyTokens({ query }: Database, counts: DailyTokens): Promise<void> {
  const sumOf = (column: string) =>
    sql<number>`${sql.ref(`menu_tokens.${column}`)} + ${sql.ref(`excluded.${column}`)}`;
  await query
    .insertInto('menu_tokens')
    .values(counts)
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet({
        whole: sumOf('whole'),
        menu: sumOf('menu'),
        search: sumOf('search'),
        lists: sumOf('lists'),
        searches: sumOf('searches'),
      }),
    )
    .execute();
}

/** Returns the counts since a day, oldest first. Days without tokens are missing. */
export async function readDailyTokens({ query }: Database, from: string): Promise<readonly DailyTokens[]> {
  return query
    .selectFrom('menu_tokens')
    .selectAll()
    .where('day', '>=', from)
    .orderBy('day')
    .limit(MAX_DAYS)
    .execute();
}
