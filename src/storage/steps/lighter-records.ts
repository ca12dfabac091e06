import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import type { Tables } from '../tables.ts';
import { auditView } from './record-tables.ts';

/** What a body had once more that is beside it. */
const BESIDE = 3;
const PAGE = 500;

/**
 * The body of a record no longer has what is beside it, and instead of every record those that have something in common, which
 * are one row for many, are found by their times.
 */
export async function lighterRecords(transaction: Transaction<Tables>): Promise<void> {
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
  await sql.raw(auditView(0)).execute(transaction);
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
        .set({ body: JSON.stringify(listOf(body).slice(BESIDE)) })
        .where('seq', '=', seq)
        .execute();
    after = rows.at(-1)?.seq ?? after;
  }
}

/** PostgreSQL gives JSON as what it is, SQLite as text. */
function listOf(body: unknown): readonly unknown[] {
  return (typeof body === 'string' ? JSON.parse(body) : body) as readonly unknown[]; // We wrote it.
}
