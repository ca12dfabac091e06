import type { CommonPart } from './audit-batch.ts';
import { COLUMNS, COMMON } from './audit-row.ts';
import type { RowStatement } from './json-rows.ts';
import type { OwnPart } from './prepare-record.ts';
import type { PreparedRecord, RecordGroup } from './record-groups.ts';

/** What a record takes besides its texts, and what it has in common with others. */
const RECORD_BYTES = 60;
const COMMON_BYTES = 60;
/** The first record of a batch is this one, so that all numbers have as many digits, however many there are. */
const COUNTED_FROM = 100_000;
const DIGITS = 6;

/** How numbered records are written: what they have in common once, and of each the rest as one text. With the bytes of all. */
export function insertRecords({
  groups,
  records,
}: {
  readonly groups: readonly RecordGroup[];
  readonly records: readonly PreparedRecord[];
}): { readonly bytes: number; readonly statements: readonly RowStatement[] } {
  let bytes = 0;
  const base = (records[0]?.own.seq ?? 0) - COUNTED_FROM;
  const rows = records.map(({ group, own }) => {
    const [first = own] = group.records;
    const size = ownBytes(own) + (first === own ? commonBytes(group.common) : 0);
    bytes += size;
    return `"${own.seq - base}${first.seq - base}${own.at}":${bodyOf(own, size)}`;
  });
  const statements = [
    { name: 'commons', text: commonsStatement, rows: groups.map(commonRow) },
    { name: 'records', text: recordsStatement, rows, areNamed: true },
  ];
  return { bytes, statements };
}

/** The numbers and the time of a record are its name: to find them in the list took SQLite longer than writing the row. */
function recordsStatement(rows: string): string {
  const first = 'coalesce((select last_seq from audit_ends), 0) + 1';
  const number = (place: number): string =>
    `${first} + cast(substr(key, ${place}, ${DIGITS}) as bigint) - ${COUNTED_FROM}`;
  return `insert into audit_records (seq, at, common, body)
    select ${number(1)}, cast(substr(key, ${1 + 2 * DIGITS}) as bigint), ${number(1 + DIGITS)}, value from ${rows}`;
}

function commonRow({ common, records }: RecordGroup): string {
  const [first] = records;
  let [firstAt, lastAt] = [first?.at ?? 0, first?.at ?? 0];
  for (const { at } of records) {
    if (at < firstAt) firstAt = at;
    if (at > lastAt) lastAt = at;
  }
  const numbers = [first?.seq, records.at(-1)?.seq, firstAt, lastAt];
  return JSON.stringify([...numbers, ...COMMON.map((member) => common[member])]);
}

function commonsStatement(rows: string): string {
  const names = COMMON.map((member) => COLUMNS[member]);
  const numbers = ['id', 'last_seq', 'first_at', 'last_at'];
  const values = [
    ...numbers.map((_, at) => `cast(value->>${at} as bigint)`),
    ...names.map((_, at) => `value->>${at + numbers.length}`),
  ];
  return `insert into audit_commons (${[...numbers, ...names].join(', ')}) select ${values.join(', ')} from ${rows}`;
}

/** In the order that the view of the records reads. */
function bodyOf(own: OwnPart, size: number): string {
  const { request, group, ms, bytesIn, bytesOut, tokensIn, tokensOut, digest } = own;
  const { arguments: args, result, details, hash } = own;
  const body = [request, group, ms, bytesIn, bytesOut, tokensIn, tokensOut, digest, size];
  if ((args ?? result ?? details ?? hash) !== undefined) body.push(args, result, details, hash);
  return JSON.stringify(body);
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
