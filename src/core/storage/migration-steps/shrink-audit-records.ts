import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';
import { auditView, uncheckedColumns } from './create-record-tables.ts';

/** Number of leading values in a body that repeat columns of its row: `seq`, `at` and `common`. */
const REPEATED_VALUES = 3;
const PAGE = 500;

/**
 * Removes from the body of each record the values that its columns already hold. Also moves the index by time from the records to the
 * rows of shared columns, which are far fewer.
 */
export async function shrinkAuditRecords(transaction: Transaction<Tables>): Promise<void> {
  const { schema } = transaction;
  await schema.dropView('audit').execute();
  await shortenBodies(transaction);
  await schema.dropIndex('audit_records_at').execute();
  for (const [name, extreme] of [
    ['first_at', 'min'],
    ['last_at', 'max'],
  ] as const) {
    await schema.alterTable('audit_commons').addColumn(name, 'integer').execute();
    await sql
      .raw(
        `update audit_commons set ${name} = (select ${extreme}(at) from audit_records
         where seq between audit_commons.id and audit_commons.last_seq and common = audit_commons.id)`,
      )
      .execute(transaction);
  }
  await schema
    .createIndex('audit_commons_first_at')
    .on('audit_commons')
    .columns(['first_at', 'last_seq'])
    .execute();
  await schema.createIndex('audit_commons_last_at').on('audit_commons').columns(['last_at', 'id']).execute();
  await sql.raw(auditView(uncheckedColumns(0))).execute(transaction);
}

async function shortenBodies(transaction: Transaction<Tables>): Promise<void> {
  for (let after = 0; ;) {
    const rows = await transaction
      .selectFrom('audit_records')
      .select(['seq', 'body'])
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(PAGE)
      .execute();
    if (rows.length === 0) return;
    for (const { seq, body } of rows)
      await transaction
        .updateTable('audit_records')
        .set({ body: JSON.stringify(parseList(body).slice(REPEATED_VALUES)) })
        .where('seq', '=', seq)
        .execute();
    after = rows.at(-1)?.seq ?? after;
  }
}

/** Parses the body where necessary: PostgreSQL returns JSON as values, SQLite as text. */
function parseList(body: unknown): readonly unknown[] {
  return (typeof body === 'string' ? JSON.parse(body) : body) as readonly unknown[]; // We wrote it.
}
