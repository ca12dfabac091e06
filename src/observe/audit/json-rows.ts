import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import { preparedQuery } from '../../storage/prepared-query.ts';
import type { Tables } from '../../storage/tables.ts';

/** Rows of one statement of SQLite. */
const ROWS = 1000;

/** A statement by hand with its rows as one text: building one costs more than running it, and a place for every value three times as much. */
export interface RowStatement {
  readonly name: string;
  /** Given what it selects `value` from: one row for each list, and its name as `key` where they have names. */
  readonly text: (rows: string) => string;
  /** Lists as JSON, or members of an object with a list each. */
  readonly rows: readonly string[];
  /** Whether they are members: what is in a name need not be looked for in the list, and the list is stored as it comes. */
  readonly areNamed?: boolean;
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

function jsonOf({ rows, areNamed = false }: RowStatement, from: number, to: number): string {
  const text = rows.slice(from, to).join(',');
  return areNamed ? `{${text}}` : `[${text}]`;
}

function postgresRows({ areNamed = false }: RowStatement, place: number): string {
  return areNamed
    ? `json_each($${place}::json) as rows (key, value)`
    : `jsonb_array_elements($${place}::jsonb) as rows (value)`;
}
