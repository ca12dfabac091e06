import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import type { CommonPart } from './audit-batch.ts';
import { COLUMNS, COMMON } from './audit-row.ts';
import { JSON_ROWS, runWithRows } from './json-rows.ts';
import type { JsonRow } from './json-rows.ts';
import type { OwnPart } from './prepare-record.ts';
import type { PreparedRecord, RecordGroup } from './record-groups.ts';

/** What a record takes besides its texts, and what it has in common with others. */
const RECORD_BYTES = 60;
const COMMON_BYTES = 60;

/** Writes numbered records: what they have in common once, and of each the rest as one text. Gives the bytes of all. */
export async function insertRecords(
  transaction: Transaction<Tables>,
  {
    groups,
    records,
  }: { readonly groups: readonly RecordGroup[]; readonly records: readonly PreparedRecord[] },
  engine: Database['engine'],
): Promise<number> {
  let bytes = 0;
  const commons = groups.map(({ common, records: [first], records: all }) => [
    ...[first?.seq, all.at(-1)?.seq],
    ...COMMON.map((member) => common[member]),
  ]);
  const rows = records.map(({ group, own }) => {
    const [first = own] = group.records;
    const size = ownBytes(own) + (first === own ? commonBytes(group.common) : 0);
    bytes += size;
    return rowOf(own, first.seq, size);
  });
  await runWithRows(transaction, commonsStatement(JSON_ROWS[engine]), commons);
  await runWithRows(transaction, recordsStatement(JSON_ROWS[engine]), rows);
  return bytes;
}

function recordsStatement(rows: string): string {
  const numbers = ['seq', 'at', 'common'].map((_, at) => `cast(value->>${at} as bigint)`);
  return `insert into audit_records (seq, at, common, body) select ${numbers.join(', ')}, value from ${rows}`;
}

function commonsStatement(rows: string): string {
  const names = COMMON.map((member) => COLUMNS[member]);
  const values = names.map((_, at) => `value->>${at + 2}`);
  return `insert into audit_commons (id, last_seq, ${names.join(', ')})
    select cast(value->>0 as bigint), cast(value->>1 as bigint), ${values.join(', ')} from ${rows}`;
}

/** In the order that the view of the records reads. */
function rowOf(own: OwnPart, common: number, size: number): JsonRow {
  const { seq, at, request, group, ms, bytesIn, bytesOut, tokensIn, tokensOut, digest } = own;
  const { arguments: args, result, details, hash } = own;
  const row = [seq, at, common, request, group, ms, bytesIn, bytesOut, tokensIn, tokensOut, digest, size];
  if ((args ?? result ?? details ?? hash) !== undefined) row.push(args, result, details, hash);
  return row;
}

function ownBytes({ request, group, digest, arguments: args, result, details, hash }: OwnPart): number {
  const usual = request.length + (group?.length ?? 0) + (digest?.length ?? 0);
  return RECORD_BYTES + usual + textBytes([args, result, details, hash]);
}

function commonBytes(common: CommonPart): number {
  return COMMON_BYTES + textBytes(COMMON.map((member) => common[member]));
}

function textBytes(texts: readonly (string | undefined)[]): number {
  let sum = 0;
  for (const text of texts) sum += text?.length ?? 0;
  return sum;
}
