import type { Kysely, Transaction } from 'kysely';

import { approvalTables } from './migration-steps/approval-tables.ts';
import { auditTables } from './migration-steps/create-audit-tables.ts';
import { browserTables } from './migration-steps/browser-tables.ts';
import { checkedAuditView } from './migration-steps/checked-audit-view.ts';
import { callerTables } from './migration-steps/caller-tables.ts';
import { fleetTables } from './migration-steps/fleet-tables.ts';
import { choreTables } from './migration-steps/chore-tables.ts';
import { clientStepTables } from './migration-steps/client-step-tables.ts';
import { lighterRecords } from './migration-steps/lighter-records.ts';
import { menuTokenTables } from './migration-steps/menu-token-tables.ts';
import { recordTables } from './migration-steps/record-tables.ts';
import { sessionTables } from './migration-steps/create-session-tables.ts';
import { runtimeServerTables } from './migration-steps/runtime-server-tables.ts';
import { shareTables } from './migration-steps/share-tables.ts';
import { sharedTables } from './migration-steps/shared-tables.ts';
import { signInTables } from './migration-steps/sign-in-tables.ts';
import { taskOwnerTables } from './migration-steps/task-owner-tables.ts';
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
  signInTables,
  auditTables,
  callerTables,
  approvalTables,
  menuTokenTables,
  sharedTables,
  clientStepTables,
  fleetTables,
  sessionTables,
  choreTables,
  shareTables,
  runtimeServerTables,
  browserTables,
  recordTables,
  lighterRecords,
  taskOwnerTables,
  checkedAuditView,
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
  if (known(await stored.read(query), migrations, file) === migrations.length) return;
  await query.transaction().execute(async (transaction) => {
    await stored.begin?.(transaction);
    // Another process may have migrated while this one waited for the lock, so the version is read again.
    const version = known(await stored.read(transaction), migrations, file);
    for (const step of migrations.slice(version)) await step(transaction);
    await stored.write(transaction, migrations.length);
  });
}

/** Returns the version, or throws if a newer version of Trunkline wrote it. */
function known(version: number, migrations: readonly Migration[], file: string): number {
  if (version <= migrations.length) return version;
  throw storeError('newer', {
    file,
    message:
      `The database ${file} has schema ${version}, this version of Trunkline knows ${migrations.length}. ` +
      'It was left as it is: update Trunkline, or use another one (TRUNKLINE_HOME, or storage.url).',
  });
}
