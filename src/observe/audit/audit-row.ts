import type { Selectable } from 'kysely';

import type { Tables } from '../../storage/tables.ts';
import type { AuditRecord } from './audit-record.ts';

export type AuditRow = Selectable<Tables['audit']>;

/** Members of a record and the columns they are in; this order is also that of exports and of the chain. */
export const COLUMNS = {
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

/** What many records have in common: the same for all calls of one tool by one client that end alike. */
export const COMMON = [
  ...(['kind', 'caller', 'via', 'client', 'clientVersion', 'profile', 'server', 'entry', 'tier'] as const),
  ...(['fingerprint', 'outcome', 'code', 'rule', 'action'] as const),
] as const satisfies readonly (keyof AuditRecord)[];

/** What each record has by itself. */
export const OWN = [
  ...(['seq', 'at', 'request', 'group', 'ms', 'bytesIn', 'bytesOut', 'tokensIn', 'tokensOut'] as const),
  ...(['digest', 'arguments', 'result', 'details', 'hash'] as const),
] as const satisfies readonly (keyof AuditRecord)[];

export const MEMBERS = Object.keys(COLUMNS) as readonly (keyof AuditRecord)[]; // Exactly its own keys.

export function recordOf(row: AuditRow): AuditRecord {
  const found = MEMBERS.map((member) => [member, row[COLUMNS[member]]] as const);
  // The columns are what `insertRecords` wrote.
  return Object.fromEntries(found.filter(([, value]) => value !== null)) as unknown as AuditRecord;
}
