import type { Selectable } from 'kysely';

import type { Tables } from '../../core/storage/tables.ts';
import type { AuditRecord } from './audit-record.ts';

export type AuditRow = Selectable<Tables['audit']>;

/** The database column of each field. Exports and the hash chain use this order, so it must not change. */
export const AUDIT_COLUMNS = {
  seq: 'seq',
  at: 'at',
  request: 'request',
  group: 'group_id',
  kind: 'kind',
  caller: 'caller',
  via: 'via',
  client: 'client',
  clientVersion: 'client_version',
  profile: 'profile',
  server: 'server',
  entry: 'entry',
  tier: 'tier',
  fingerprint: 'fingerprint',
  outcome: 'outcome',
  code: 'code',
  ms: 'ms',
  bytesIn: 'bytes_in',
  bytesOut: 'bytes_out',
  tokensIn: 'tokens_in',
  tokensOut: 'tokens_out',
  rule: 'rule',
  digest: 'digest',
  action: 'action',
  arguments: 'arguments',
  result: 'result',
  details: 'details',
  hash: 'hash',
} as const satisfies Record<keyof AuditRecord, keyof AuditRow>;

/** Fields that are stored once for many records: equal for all calls of one tool by one client with the same outcome. */
export const COMMON_FIELDS = [
  'kind',
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
  'action',
] as const satisfies readonly (keyof AuditRecord)[];

/** Fields that are stored separately for each record. */
export const PER_RECORD_FIELDS = [
  'seq',
  'at',
  'request',
  'group',
  'ms',
  'bytesIn',
  'bytesOut',
  'tokensIn',
  'tokensOut',
  'digest',
  'arguments',
  'result',
  'details',
  'hash',
] as const satisfies readonly (keyof AuditRecord)[];

export const RECORD_FIELDS = Object.keys(AUDIT_COLUMNS) as readonly (keyof AuditRecord)[]; // The keys of a literal are exactly these.

export function toAuditRecord(row: AuditRow): AuditRecord {
  const entries = RECORD_FIELDS.map((field) => [field, row[AUDIT_COLUMNS[field]]] as const);
  // `AuditWriter` wrote the columns, so their types are those of the fields.
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as unknown as AuditRecord;
}
