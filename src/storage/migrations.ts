import { sql } from 'kysely';
import type { Kysely, Transaction } from 'kysely';

import { approvalTables } from './approval-tables.ts';
import { auditTables } from './audit-tables.ts';
import { callerTables } from './caller-tables.ts';
import { menuTokenTables } from './menu-token-tables.ts';
import { signInTables } from './sign-in-tables.ts';
import { storeError } from './store-error.ts';
import type { Tables } from './tables.ts';

type Migration = (schema: Transaction<Tables>) => Promise<void>;

/** One step per schema version. A step that was released is never edited; the next one mends it. */
const released: readonly Migration[] = [
  async ({ schema }) => {
    await schema
      .createTable('listings')
      .addColumn('upstream', 'text', (column) => column.primaryKey())
      .addColumn('fingerprint', 'text', (column) => column.notNull())
      .addColumn('listed_at', 'integer', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .execute();
    await schema
      .createTable('eras')
      .addColumn('fingerprint', 'text', (column) => column.primaryKey())
      .addColumn('era', 'text', (column) => column.notNull())
      .addColumn('protocol', 'text', (column) => column.notNull())
      .addColumn('decided_at', 'integer', (column) => column.notNull())
      .execute();
  },
  signInTables,
  auditTables,
  callerTables,
  approvalTables,
  menuTokenTables,
];

/** Brings the schema up to date in one transaction, or leaves it as it was. */
export async function migrate(
  query: Kysely<Tables>,
  options: { readonly file: string; readonly migrations?: readonly Migration[] },
): Promise<void> {
  const migrations = options.migrations ?? released;
  if ((await versionOf(query, migrations, options.file)) === migrations.length) return;
  await query.transaction().execute(async (transaction) => {
    // Another process may have migrated while this one waited for the lock.
    const version = await versionOf(transaction, migrations, options.file);
    for (const step of migrations.slice(version)) await step(transaction);
    await sql.raw(`pragma user_version = ${migrations.length}`).execute(transaction);
  });
}

async function versionOf(
  query: Kysely<Tables>,
  migrations: readonly Migration[],
  file: string,
): Promise<number> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(query);
  const version = rows[0]?.user_version ?? 0;
  if (version <= migrations.length) return version;
  throw storeError('newer', {
    file,
    message:
      `The database ${file} has schema ${version}, this version of Trunkline knows ${migrations.length}. ` +
      'It was left as it is: update Trunkline, or set TRUNKLINE_HOME to another folder.',
  });
}
