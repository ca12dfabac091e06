import type { Kysely, Transaction } from 'kysely';

import { createApprovalTables } from './migration-steps/create-approval-tables.ts';
import { createAuditTables } from './migration-steps/create-audit-tables.ts';
import { createBrowserTables } from './migration-steps/create-browser-tables.ts';
import { checkAuditView } from './migration-steps/check-audit-view.ts';
import { createCallerTables } from './migration-steps/create-caller-tables.ts';
import { createFleetTables } from './migration-steps/create-fleet-tables.ts';
import { createChoreTables } from './migration-steps/create-chore-tables.ts';
import { createClientStepTables } from './migration-steps/create-client-step-tables.ts';
import { shrinkAuditRecords } from './migration-steps/shrink-audit-records.ts';
import { createMenuTokenTables } from './migration-steps/create-menu-token-tables.ts';
import { createRecordTables } from './migration-steps/create-record-tables.ts';
import { createSecretTables } from './migration-steps/create-secret-tables.ts';
import { createSessionTables } from './migration-steps/create-session-tables.ts';
import { createRuntimeServerTables } from './migration-steps/create-runtime-server-tables.ts';
import { createLimitShareTables } from './migration-steps/create-limit-share-tables.ts';
import { createChangeAndResultTables } from './migration-steps/create-change-and-result-tables.ts';
import { createResultShapeTables } from './migration-steps/create-result-shape-tables.ts';
import { createSignInTables } from './migration-steps/create-sign-in-tables.ts';
import { createTaskOwnerTables } from './migration-steps/create-task-owner-tables.ts';
import { storeError } from './store-error.ts';
import type { Tables } from './tables.ts';

type Migration = (schema: Transaction<Tables>) => Promise<void>;

/** One step per schema version. A released step is never edited; a later step corrects it. */
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
  createSignInTables,
  createAuditTables,
  createCallerTables,
  createApprovalTables,
  createMenuTokenTables,
  createChangeAndResultTables,
  createClientStepTables,
  createFleetTables,
  createSessionTables,
  createChoreTables,
  createLimitShareTables,
  createRuntimeServerTables,
  createBrowserTables,
  createRecordTables,
  shrinkAuditRecords,
  createTaskOwnerTables,
  checkAuditView,
  createSecretTables,
  createResultShapeTables,
];

/** Reads and writes the schema version of a database; 0 if it has no schema yet. */
export interface SchemaVersion {
  /** Takes a lock so that one process at a time migrates. Absent where a transaction already ensures that. */
  begin?(transaction: Transaction<Tables>): Promise<void>;
  read(query: Kysely<Tables>): Promise<number>;
  write(transaction: Transaction<Tables>, version: number): Promise<void>;
}

/** Migrates the schema in one transaction, or leaves it unchanged. */
export async function migrate(
  query: Kysely<Tables>,
  options: {
    readonly file: string;
    readonly version: SchemaVersion;
    readonly migrations?: readonly Migration[];
  },
): Promise<void> {
  const migrations = options.migrations ?? released;
  const { version: stored, file } = options;
  if (checkVersion(await stored.read(query), migrations, file) === migrations.length) return;
  await query.transaction().execute(async (transaction) => {
    await stored.begin?.(transaction);
    // Another process may have migrated while this one waited for the lock, so the version is read again.
    const version = checkVersion(await stored.read(transaction), migrations, file);
    for (const step of migrations.slice(version)) await step(transaction);
    await stored.write(transaction, migrations.length);
  });
}

/** Returns the version, or throws if a newer version of Trunkline wrote it. */
function checkVersion(version: number, migrations: readonly Migration[], file: string): number {
  if (version <= migrations.length) return version;
  throw storeError('newer', {
    file,
    message:
      `The database ${file} has schema version ${version}, but this version of Trunkline supports at most ${migrations.length}. ` +
      'The database was not changed. Update Trunkline, or select another database with TRUNKLINE_HOME or storage.url.',
  });
}
