import type { CommonPart, RawRecord } from './audit-batch.ts';
import { COMMON } from './audit-row.ts';

export type FlatRecord = Partial<Omit<RawRecord, 'common'> & CommonPart>;

/** A record as it comes to the thread, of members that are written side by side. */
export function rawRecord(flat: FlatRecord): RawRecord {
  const isCommon = new Set<string>(COMMON);
  const entries = Object.entries(flat);
  const ofPart = (part: boolean) =>
    Object.fromEntries(entries.filter(([member]) => isCommon.has(member) === part));
  const common = {
    ...{ kind: 'tool', caller: 'me', via: 'cli', profile: 'default', outcome: 'ok', server: 's' },
    ...ofPart(true),
  };
  // What is absent may be undefined, which the type of a record says of each member by name.
  return { request: 'r', at: 0, ms: 5, ...ofPart(false), common } as RawRecord;
}
