import { PostgresAdapter, sql } from 'kysely';
import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';
import { auditView } from './create-record-tables.ts';

/** Larger numbers lose digits in JavaScript, and SQLite refuses to return them. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;
/** The latest time that a `Date` can have. */
const MAX_TIME = 8.64e15;
/**
 * Numbers are rounded to this many decimals, more than any duration has, because PostgreSQL fails to convert a number that is too small for
 * a double.
 */
const MAX_DECIMALS = 30;

/**
 * Replaces the view of the audit log by one that checks each value, so a row with an invalid value never fails a query over all rows. A
 * value becomes null if it should be a number but is not, if it is too large, or if the body is not JSON. A time before 1970 or after the
 * latest `Date` becomes the nearer limit.
 */
export async function checkAuditView(transaction: Transaction<Tables>): Promise<void> {
  const isPostgres = transaction.getExecutor().adapter instanceof PostgresAdapter;
  await transaction.schema.dropView('audit').execute();
  await sql.raw(auditView(isPostgres ? POSTGRES_COLUMNS : SQLITE_COLUMNS)).execute(transaction);
}

// A `case` within a `case` fixes the order of the checks; PostgreSQL may reorder the operands of `and`.
const POSTGRES_COLUMNS = {
  time: `least(greatest(records.at, 0), ${MAX_TIME})`,
  member: (index: number, type: string | undefined): string => {
    if (type === undefined) return `records.body->>${index}`;
    const value = `cast(records.body->${index} as numeric)`;
    return `case jsonb_typeof(records.body->${index}) when 'number' then
      case when ${value} between ${-MAX_NUMBER} and ${MAX_NUMBER} then cast(round(${value}, ${MAX_DECIMALS}) as ${type}) end end`;
  },
};

const SQLITE_COLUMNS = {
  time: `min(max(records.at, 0), ${MAX_TIME})`,
  member: (index: number, type: string | undefined): string => {
    const value = `records.body->>${index}`;
    if (type === undefined) return `case when json_valid(records.body) then cast(${value} as text) end`;
    return `case when json_valid(records.body) then case when json_type(records.body, '$[${index}]') in ('integer', 'real')
      and ${value} between ${-MAX_NUMBER} and ${MAX_NUMBER} then cast(${value} as ${type}) end end`;
  },
};
