import type { Transaction } from 'kysely';

import type { Database } from '../../core/storage/database.ts';
import { prepareQuery } from '../../core/storage/prepared-query.ts';
import type { Tables } from '../../core/storage/tables.ts';

/** The maximum number of rows per SQLite statement. */
const MAX_SQLITE_ROWS = 1000;

/**
 * A hand-written statement that receives all its rows as one JSON parameter. Building a statement with the query builder costs more than
 * running it, and a placeholder for every value costs three times as much.
 */
export interface BulkStatement {
  readonly name: string;
  /** Returns the SQL. `rows` is the source of the column `value`, a JSON list per row, and of `key` if rows are keyed. */
  readonly text: (rows: string) => string;
  /** JSON lists; if rows are keyed, members of a JSON object with a list each. */
  readonly rows: readonly string[];
  /** Whether rows have keys. A key is cheaper to read than an element of the list, and the list can be stored unchanged. */
  readonly areKeyed?: boolean;
}

/**
 * Runs the statements. On SQLite they run in order. On PostgreSQL they are combined into one statement, because separate ones take 1.5
 * times as long. Therefore no two of them may write to the same table, none may depend on the effects of another, and their SQL must be
 * the same every time.
 */
export async function runBulkStatements(
  transaction: Transaction<Tables>,
  statements: readonly BulkStatement[],
  engine: Database['engine'],
): Promise<void> {
  if (engine === 'postgres') {
    const texts = statements.map((statement, index) => statement.text(postgresRows(statement, index + 1)));
    const withQueries = texts.slice(0, -1).map((text, index) => `${statements[index]?.name} as (${text})`);
    const values = statements.map((statement) => formatRows(statement, 0, statement.rows.length));
    const text = `with ${withQueries.join(', ')} ${texts.at(-1)}`;
    const name = statements.map((statement) => statement.name).join('_');
    await transaction.executeQuery(prepareQuery(name, text, values));
    return;
  }
  for (const statement of statements)
    for (let start = 0; start < statement.rows.length; start += MAX_SQLITE_ROWS) {
      const values = [formatRows(statement, start, start + MAX_SQLITE_ROWS)];
      await transaction.executeQuery(prepareQuery(statement.name, statement.text('json_each(?)'), values));
    }
}

function formatRows({ rows, areKeyed = false }: BulkStatement, start: number, end: number): string {
  const text = rows.slice(start, end).join(',');
  return areKeyed ? `{${text}}` : `[${text}]`;
}

function postgresRows({ areKeyed = false }: BulkStatement, parameter: number): string {
  return areKeyed
    ? `json_each($${parameter}::json) as rows (key, value)`
    : `jsonb_array_elements($${parameter}::jsonb) as rows (value)`;
}
