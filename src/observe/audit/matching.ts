import { sql } from 'kysely';
import type { RawBuilder, SelectQueryBuilder } from 'kysely';

import type { Tables } from '../../storage/tables.ts';
import type { AuditConditions } from './audit-record.ts';
import { COLUMNS } from './audit-row.ts';

type Rows<O> = SelectQueryBuilder<Tables, 'audit', O>;

const TEXTS = [
  ...(['kind', 'request', 'group', 'caller', 'via', 'client', 'clientVersion', 'profile', 'server'] as const),
  ...(['entry', 'tier', 'fingerprint', 'outcome', 'code', 'rule', 'digest', 'action'] as const),
];

/** Adds the conditions of a filter; a star in a text stands for anything, and makes capitals count as small letters. */
export function matching<O>(rows: Rows<O>, filter: AuditConditions): Rows<O> {
  let found = rows;
  for (const member of TEXTS) {
    const wanted = filter[member];
    if (wanted === undefined) continue;
    const column = COLUMNS[member];
    if (!wanted.includes('*')) {
      found = found.where(column, '=', wanted);
      continue;
    }
    const isLike = sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern(wanted)}) escape '!'`;
    const others = member === 'entry' ? (filter.others ?? []) : [];
    found = found.where(others.length === 0 ? isLike : sql<boolean>`(${isLike} or ${isAmong(others)})`);
  }
  const { after, before, since, until, minMs, errors } = filter;
  if (after !== undefined) found = found.where('seq', '>', after);
  if (before !== undefined) found = found.where('seq', '<', before);
  if (since !== undefined) found = begunSince(found, since);
  if (until !== undefined) found = begunBefore(found, until);
  if (minMs !== undefined) found = found.where('ms', '>=', minMs);
  return errors === true ? found.where('outcome', '!=', 'ok') : found;
}

/** Times are looked up where there is one row for many records: all that began since then are behind the first of these. */
export function begunSince<O>(rows: Rows<O>, time: number): Rows<O> {
  return rows
    .where('at', '>=', time)
    .where(sql<boolean>`seq >= (select min(id) from audit_commons where last_at >= ${time})`);
}

export function begunBefore<O>(rows: Rows<O>, time: number): Rows<O> {
  return rows
    .where('at', '<', time)
    .where(sql<boolean>`seq <= (select max(last_seq) from audit_commons where first_at < ${time})`);
}

function isAmong(entries: NonNullable<AuditConditions['others']>): RawBuilder<boolean> {
  const pairs = entries.map(([server, entry]) => sql`(${server}, ${entry})`);
  return sql<boolean>`(${sql.ref(COLUMNS.server)}, ${sql.ref(COLUMNS.entry)}) in (values ${sql.join(pairs)})`;
}

function pattern(glob: string): string {
  return glob.replaceAll(/[!%_]/g, '!$&').replaceAll('*', '%');
}
