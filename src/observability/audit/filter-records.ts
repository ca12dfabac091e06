import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder } from 'kysely';

import type { Tables } from '../../core/storage/tables.ts';
import type { AuditConditions } from './audit-record.ts';
import { AUDIT_COLUMNS } from './audit-row.ts';

type Rows<O> = SelectQueryBuilder<Tables, 'audit', O>;

/** The text fields that a filter can compare. */
export const TEXT_CONDITIONS = [
  'kind',
  'request',
  'group',
  'caller',
  'via',
  'client',
  'clientVersion',
  'profile',
  'server',
  'entry',
  'tier',
  'fingerprint',
  'outcome',
  'code',
  'rule',
  'digest',
  'action',
] as const;

/** Adds the conditions of a filter to a query. In texts, `*` matches any characters and makes the comparison case-insensitive. */
export function filterRecords<O>(rows: Rows<O>, filter: AuditConditions): Rows<O> {
  let filtered = rows;
  for (const field of TEXT_CONDITIONS) {
    const text = filter[field];
    if (text === undefined) continue;
    const column = AUDIT_COLUMNS[field];
    if (!text.includes('*')) {
      filtered = filtered.where(column, '=', text);
      continue;
    }
    const isLike = sql<boolean>`lower(${sql.ref(column)}) like lower(${toLikePattern(text)}) escape '!'`;
    const others = field === 'entry' ? (filter.others ?? []) : [];
    filtered = filtered.where(others.length === 0 ? isLike : sql<boolean>`(${isLike} or ${isAmong(others)})`);
  }
  const { after, before, since, until, minMs, errors } = filter;
  if (after !== undefined) filtered = filtered.where('seq', '>', after);
  if (before !== undefined) filtered = filtered.where('seq', '<', before);
  if (since !== undefined) filtered = whereStartedSince(filtered, since);
  if (until !== undefined) filtered = whereStartedBefore(filtered, until);
  if (minMs !== undefined) filtered = filtered.where('ms', '>=', minMs);
  return errors === true ? filtered.where('outcome', '!=', 'ok') : filtered;
}

/**
 * Selects records from a time on. `at` has no index, so the query is narrowed by sequence number, with the time ranges of
 * `audit_commons`, which has one row for many records.
 */
export function whereStartedSince<O>(rows: Rows<O>, time: number): Rows<O> {
  return rows
    .where('at', '>=', time)
    .where(sql<boolean>`seq >= (select min(id) from audit_commons where last_at >= ${time})`);
}

/** Selects records before a time, in the same way. */
export function whereStartedBefore<O>(rows: Rows<O>, time: number): Rows<O> {
  return rows
    .where('at', '<', time)
    .where(sql<boolean>`seq <= (select max(last_seq) from audit_commons where first_at < ${time})`);
}

function isAmong(entries: NonNullable<AuditConditions['others']>): RawBuilder<boolean> {
  const pairs = entries.map(([server, entry]) => sql`(${server}, ${entry})`);
  return sql<boolean>`(${sql.ref(AUDIT_COLUMNS.server)}, ${sql.ref(AUDIT_COLUMNS.entry)}) in (values ${sql.join(pairs)})`;
}

/** Converts a glob to a LIKE pattern with `!` as the escape character. */
function toLikePattern(glob: string): string {
  return glob.replaceAll(/[!%_]/g, '!$&').replaceAll('*', '%');
}
