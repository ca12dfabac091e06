import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

const COMMON = [
  ...(['kind', 'caller', 'via', 'profile', 'outcome', 'client', 'client_version', 'server'] as const),
  ...(['entry', 'tier', 'fingerprint', 'code', 'rule', 'action'] as const),
] as const;
/** The fields in the body of a record. In this step they follow `seq`, `at` and `common`. */
const BODY = [
  ...(['request', 'group_id', 'ms', 'bytes_in', 'bytes_out', 'tokens_in', 'tokens_out', 'digest'] as const),
  ...(['size', 'arguments', 'result', 'details', 'hash'] as const),
] as const;
const BEFORE_BODY = 3;
const TYPES: Readonly<Record<string, string>> = {
  ms: 'double precision',
  bytes_in: 'bigint',
  bytes_out: 'bigint',
  tokens_in: 'bigint',
  tokens_out: 'bigint',
  size: 'bigint',
};
const PAGE = 500;

/**
 * Splits the audit table in two: a record has a number, a time and a JSON body, and the columns that many records share are stored once.
 * A row of thirty columns took three times as long to write. A view with the name of the old table joins both for readers.
 */
export async function createRecordTables(transaction: Transaction<Tables>): Promise<void> {
  const { schema } = transaction;
  let commons = schema
    .createTable('audit_commons')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_seq', 'integer', (column) => column.notNull());
  for (const name of COMMON) commons = commons.addColumn(name, 'text');
  await commons.execute();
  await schema
    .createTable('audit_records')
    .addColumn('seq', 'integer', (column) => column.primaryKey())
    .addColumn('at', 'integer', (column) => column.notNull())
    .addColumn('common', 'integer', (column) => column.notNull())
    .addColumn('body', 'jsonb', (column) => column.notNull())
    .execute();
  await schema.createIndex('audit_records_at').on('audit_records').column('at').execute();
  await moveRecords(transaction);
  await schema.dropTable('audit').execute();
  await sql.raw(auditView(uncheckedColumns(BEFORE_BODY))).execute(transaction);
}

async function moveRecords(transaction: Transaction<Tables>): Promise<void> {
  for (let after = 0; ;) {
    const rows = await transaction
      .selectFrom('audit')
      .selectAll()
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    if (rows.length === 0) return;
    const commons = rows.map((row) => ({ ...pick(row, COMMON), id: row.seq, last_seq: row.seq }));
    const records = rows.map((row) => {
      const { seq, at } = row;
      return { seq, at, common: seq, body: JSON.stringify([seq, at, seq, ...BODY.map((name) => row[name])]) };
    });
    await transaction.insertInto('audit_commons').values(commons).execute();
    await transaction.insertInto('audit_records').values(records).execute();
    after = rows.at(-1)?.seq ?? after;
  }
}

function pick<T extends object, K extends keyof T>(of: T, names: readonly K[]): Pick<T, K> {
  // Every name is a key of the object.
  return Object.fromEntries(names.map((name) => [name, of[name]])) as unknown as Pick<T, K>;
}

/**
 * The SQL expressions with which the view reads a record: `time` is its time, and `member` returns a member of its body, as text if no type
 * is given.
 */
interface AuditViewColumns {
  readonly time: string;
  readonly member: (index: number, type: string | undefined) => string;
}

/** Returns the statement that creates the view. The cross join makes SQLite scan the records in their own order. */
export function auditView({ time, member }: AuditViewColumns): string {
  const members = BODY.map((name, index) => `${member(index, TYPES[name])} as ${name}`);
  const columns = ['records.seq', `${time} as at`, ...members, ...COMMON.map((name) => `commons.${name}`)];
  return `create view audit as select ${columns.join(', ')}
    from audit_records as records cross join audit_commons as commons where commons.id = records.common`;
}

/** Returns expressions that do not check the values. In the body, `beforeBody` values come before the fields of `BODY`. */
export function uncheckedColumns(beforeBody: number): AuditViewColumns {
  return {
    time: 'records.at',
    member: (index, type) => {
      const value = `records.body->>${beforeBody + index}`;
      return type === undefined ? value : `cast(${value} as ${type})`;
    },
  };
}
