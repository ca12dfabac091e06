import type { AuditSettings, CommonPart, RawRecord } from './audit-batch.ts';
import { COMMON } from './audit-row.ts';
import { prepareCommon, prepareRecord } from './prepare-record.ts';
import type { Estimate, OwnPart } from './prepare-record.ts';

/** Records of one batch that differ in nothing but what each has by itself. */
export interface RecordGroup {
  readonly common: CommonPart;
  readonly records: OwnPart[];
}

export interface PreparedRecord {
  readonly group: RecordGroup;
  readonly own: OwnPart;
}

/** A batch, ready to be numbered and written: in its order, and by what its records have in common. */
export function recordGroups(
  batch: readonly RawRecord[],
  deps: { readonly settings: AuditSettings; readonly estimate: Estimate },
): { readonly groups: readonly RecordGroup[]; readonly records: readonly PreparedRecord[] } {
  const groups = new Map<string, RecordGroup>();
  const known = new Map<CommonPart, RecordGroup>();
  const groupOf = (raw: CommonPart): RecordGroup => {
    const common = prepareCommon(raw);
    const key = JSON.stringify(COMMON.map((member) => common[member] ?? null));
    const group = groups.get(key) ?? { common, records: [] };
    groups.set(key, group);
    known.set(raw, group);
    return group;
  };
  const records = batch.map((raw) => {
    const group = known.get(raw.common) ?? groupOf(raw.common);
    const own = prepareRecord(raw, deps);
    group.records.push(own);
    return { group, own };
  });
  return { groups: [...groups.values()], records };
}
