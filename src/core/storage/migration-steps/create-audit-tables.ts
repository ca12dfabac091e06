import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';

/** Creates the tables of the audit log, of its statistics per tool (kept longer than the records), and of the ends of its hash chain. */
export async function createAuditTables({ schema }: Transaction<Tables>): Promise<void> {
  let records = schema.createTable('audit').addColumn('seq', 'bigint', (column) => column.primaryKey());
  records = records.addColumn('at', 'bigint', (column) => column.notNull());
  for (const name of ['request', 'kind', 'caller', 'via', 'profile', 'outcome'] as const)
    records = records.addColumn(name, 'text', (column) => column.notNull());
  for (const name of [
    ...(['group_id', 'client', 'client_version', 'server', 'entry', 'tier', 'fingerprint', 'code'] as const),
    ...(['rule', 'digest', 'action', 'arguments', 'result', 'details', 'hash'] as const),
  ])
    records = records.addColumn(name, 'text');
  records = records.addColumn('ms', 'double precision');
  for (const name of ['bytes_in', 'bytes_out', 'tokens_in', 'tokens_out'] as const)
    records = records.addColumn(name, 'bigint');
  await records.addColumn('size', 'bigint', (column) => column.notNull()).execute();
  await schema.createIndex('audit_at').on('audit').column('at').execute();
  await statsTables(schema);
  await schema
    .createTable('audit_ends')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('last_seq', 'bigint', (column) => column.notNull())
    .addColumn('bytes', 'bigint', (column) => column.notNull())
    .addColumn('head', 'text')
    .addColumn('base', 'text')
    .addColumn('chained', 'bigint', (column) => column.notNull())
    .execute();
}

const COUNTS = [
  ...(['calls', 'errors', 'refused', 'last_at'] as const),
  ...(['bytes_in', 'bytes_out', 'tokens_in', 'tokens_out'] as const),
];

async function statsTables(schema: Transaction<Tables>['schema']): Promise<void> {
  let stats = schema
    .createTable('tool_stats')
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('entry', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull());
  for (const name of COUNTS) stats = stats.addColumn(name, 'bigint', (column) => column.notNull());
  await stats.addPrimaryKeyConstraint('tool_stats_key', ['server', 'entry', 'kind']).execute();
  await schema
    .createTable('tool_latency')
    .addColumn('server', 'text', (column) => column.notNull())
    .addColumn('entry', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('bucket', 'integer', (column) => column.notNull())
    .addColumn('calls', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('tool_latency_key', ['server', 'entry', 'kind', 'bucket'])
    .execute();
}
