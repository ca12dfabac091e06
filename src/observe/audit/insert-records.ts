import { CompiledQuery } from 'kysely';
import type { Transaction } from 'kysely';

import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import type { CommonPart } from './audit-batch.ts';
import { COLUMNS, COMMON, OWN } from './audit-row.ts';
import type { OwnPart } from './prepare-record.ts';
import type { RecordGroup } from './record-groups.ts';

/** Rows of one statement. */
const ROWS = 200;
/** What a row takes besides its texts. */
const ROW_BYTES = 120;

type Value = string | number | null;

/** Statements by hand, since building one for hundreds of rows costs more than running it. Gives the bytes of all rows. */
export async function insertRecords(
  transaction: Transaction<Tables>,
  groups: readonly RecordGroup[],
  engine: Database['engine'],
): Promise<number> {
  const statement = engine === 'postgres' ? placesForAll : fromJson;
  let bytes = 0;
  for (const { common, records } of groups) {
    const commonBytes = ROW_BYTES + textBytes(COMMON.map((member) => common[member] ?? null));
    for (let from = 0; from < records.length; from += ROWS) {
      const part = records.slice(from, from + ROWS);
      const members = OWN.filter((member) => part.some((record) => record[member] !== undefined));
      const rows = part.map((record) => {
        const row: Value[] = members.map((member) => record[member] ?? null);
        const size = commonBytes + textBytes(row);
        bytes += size;
        row.push(size);
        return row;
      });
      const names = [...COMMON, ...members].map((member) => `"${COLUMNS[member]}"`);
      const { text, values } = statement(common, rows);
      const query = `insert into audit (${names.join(',')},"size") ${text}`;
      await transaction.executeQuery(CompiledQuery.raw(query, values));
    }
  }
  return bytes;
}

interface Statement {
  readonly text: string;
  readonly values: Value[];
}

function placesForAll(common: CommonPart, rows: readonly (readonly Value[])[]): Statement {
  const values: Value[] = COMMON.map((member) => common[member] ?? null);
  const shared = values.map((_, at) => `$${at + 1}`).join(',');
  const places = rows.map((row) => `(${shared},${row.map((value) => `$${values.push(value)}`).join(',')})`);
  return { text: `values ${places.join(',')}`, values };
}

/** What is common is bound once, and the rest is one text: 6 µs a row, where a place for every value takes 15 to 21. */
function fromJson(common: CommonPart, rows: readonly (readonly Value[])[]): Statement {
  const values = COMMON.map((member) => common[member] ?? null);
  const columns = rows[0]?.map((_, at) => `value->>${at}`) ?? [];
  const text = `select ${values.map(() => '?').join(',')},${columns.join(',')} from json_each(?)`;
  return { text, values: [...values, JSON.stringify(rows)] };
}

function textBytes(values: readonly (OwnPart[keyof OwnPart] | Value)[]): number {
  let sum = 0;
  for (const value of values) if (typeof value === 'string') sum += value.length;
  return sum;
}
