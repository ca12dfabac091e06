import { sql } from 'kysely';
import type { SelectQueryBuilder } from 'kysely';

import type { Tables } from '../../storage/tables.ts';
import type { AuditFilter } from './audit-record.ts';
import { COLUMNS } from './audit-row.ts';

type Rows<O> = SelectQueryBuilder<Tables, 'audit', O>;

const TEXTS = [
  ...(['kind', 'request', 'group', 'caller', 'via', 'client', 'clientVersion', 'profile', 'server'] as const),
  ...(['entry', 'tier', 'fingerprint', 'outcome', 'code', 'rule', 'digest', 'action'] as const),
];

/** Adds the conditions of a filter; a star in a text stands for anything, and makes capitals count as small letters. */
export function matching<O>(rows: Rows<O>, filter: AuditFilter): Rows<O> {
  let found = rows;
  for (const member of TEXTS) {
    const wanted = filter[member];
    if (wanted === undefined) continue;
    const column = COLUMNS[member];
    found = wanted.includes('*')
      ? found.where(sql<boolean>`lower(${sql.ref(column)}) like lower(${pattern(wanted)}) escape '!'`)
      : found.where(column, '=', wanted);
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

function pattern(glob: string): string {
  return glob.replaceAll(/[!%_]/g, '!$&').replaceAll('*', '%');
}
