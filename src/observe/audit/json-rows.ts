import { CompiledQuery } from 'kysely';
import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';

/** Rows of one statement. */
const ROWS = 500;

export type JsonRow = readonly (string | number | undefined)[];

/** What statements select `value` from: one row for each list in the text they are given. */
export const JSON_ROWS: Readonly<Record<Database['engine'], string>> = {
  sqlite: 'json_each(?)',
  postgres: 'jsonb_array_elements($1::jsonb) as rows (value)',
};

/** Runs a statement by hand with its rows as one text: building one costs more than running it, and a place for every value three times as much. */
export async function runWithRows(
  transaction: Transaction<Tables>,
  text: string,
  rows: readonly JsonRow[],
): Promise<void> {
  for (let from = 0; from < rows.length; from += ROWS)
    await transaction.executeQuery(CompiledQuery.raw(text, [JSON.stringify(rows.slice(from, from + ROWS))]));
}
