import { sql } from 'kysely';

import type { Database } from '../../storage/database.ts';

/** What clients were sent on one day to know the tools; tokens are estimated. */
export interface DayTokens {
  /** As `2026-01-31`. */
  readonly day: string;
  /** What listing every tool in full would have cost. */
  readonly whole: number;
  /** What the lists cost that were sent. */
  readonly menu: number;
  /** What searches and descriptions cost. */
  readonly search: number;
  readonly lists: number;
  readonly searches: number;
}

const KEPT_DAYS = 400;

/** Adds to what is counted for a day; other processes may count at the same time. */
export async function addDayTokens({ query }: Database, counts: DayTokens): Promise<void> {
  const added = (name: string) =>
    sql<number>`${sql.ref(`menu_tokens.${name}`)} + ${sql.ref(`excluded.${name}`)}`;
  await query
    .insertInto('menu_tokens')
    .values(counts)
    .onConflict((conflict) =>
      conflict.column('day').doUpdateSet({
        whole: added('whole'),
        menu: added('menu'),
        search: added('search'),
        lists: added('lists'),
        searches: added('searches'),
      }),
    )
    .execute();
}

/** The oldest first; days on which nothing was sent are not there. */
export async function readDayTokens({ query }: Database, from: string): Promise<readonly DayTokens[]> {
  return query
    .selectFrom('menu_tokens')
    .selectAll()
    .where('day', '>=', from)
    .orderBy('day')
    .limit(KEPT_DAYS)
    .execute();
}
