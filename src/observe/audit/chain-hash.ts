import { createHash } from 'node:crypto';

import type { AuditRecord } from './audit-record.ts';
import { MEMBERS } from './audit-row.ts';

/** The hash of a record, over all it says and the hash before it: whoever changes one must change all that follow. */
export function chainHash(record: Omit<AuditRecord, 'hash'>, before: string): string {
  const said = MEMBERS.filter((member) => member !== 'hash').map((member) => record[member] ?? null);
  return createHash('sha256')
    .update(`${before}\n${JSON.stringify(said)}`)
    .digest('hex');
}
