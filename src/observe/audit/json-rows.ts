import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import { preparedQuery } from '../../storage/prepared-query.ts';
import type { Tables } from '../../storage/tables.ts';

/** Rows of one statement of SQLite. */
const ROWS = 1000;

export type JsonRow = readonly (string | number | undefined)[];

/** A statement by hand with its rows as one text: building one costs more than running it, and a place for every value three times as much. */
export interface RowStatement {
  readonly name: string;
  /** Given what it selects `value` from: one row for each list, and its name as `key` where they have names. */
  readonly text: (rows: string) => string;
  readonly rows: readonly JsonRow[];
  /** Of each row, of letters and digits: what is in a name need not be looked for in the list, and the list is stored as it comes. */
  readonly names?: readonly string[];
}

/**
 * Runs them in this order. A server is asked once for all of them, where one after the other took half as much again; they must not touch
 * the same table, and their texts must be those of the last time.
 */
export async function runWithRows(
  transaction: Transaction<Tables>,
  statements: readonly RowStatement[],
  engine: Database['engine'],
): Promise<void> {
  if (engine === 'postgres') {
    const texts = statements.map((each, at) => [each.name, each.text(postgresRows(each, at + 1))] as const);
    const [last, ...others] = texts.toReversed();
    const before = others.toReversed().map(([name, text]) => `${name} as (${text})`);
    const values = statements.map((each) => jsonOf(each, 0, each.rows.length));
    const text = `with ${before.join(', ')} ${last?.[1]}`;
    await transaction.executeQuery(preparedQuery(texts.map(([name]) => name).join('_'), text, values));
    return;
  }
  for (const each of statements)
    for (let from = 0; from < each.rows.length; from += ROWS) {
      const values = [jsonOf(each, from, from + ROWS)];
      await transaction.executeQuery(preparedQuery(each.name, each.text('json_each(?)'), values));
    }
}

function jsonOf({ rows, names }: RowStatement, from: number, to: number): string {
  if (names === undefined) return JSON.stringify(rows.slice(from, to));
  let text = '';
  for (let at = from; at < to && at < rows.length; at++)
    text += `${at === from ? '' : ','}"${names[at]}":${JSON.stringify(rows[at])}`;
  return `{${text}}`;
}

function postgresRows({ names }: RowStatement, place: number): string {
  return names === undefined
    ? `jsonb_array_elements($${place}::jsonb) as rows (value)`
    : `json_each($${place}::json) as rows (key, value)`;
}
