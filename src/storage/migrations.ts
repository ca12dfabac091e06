import type { Kysely, Transaction } from 'kysely';

import { approvalTables } from './steps/approval-tables.ts';
import { auditTables } from './steps/audit-tables.ts';
import { browserTables } from './steps/browser-tables.ts';
import { callerTables } from './steps/caller-tables.ts';
import { fleetTables } from './steps/fleet-tables.ts';
import { choreTables } from './steps/chore-tables.ts';
import { clientStepTables } from './steps/client-step-tables.ts';
import { lighterRecords } from './steps/lighter-records.ts';
import { menuTokenTables } from './steps/menu-token-tables.ts';
import { recordTables } from './steps/record-tables.ts';
import { sessionTables } from './steps/session-tables.ts';
import { runtimeServerTables } from './steps/runtime-server-tables.ts';
import { shareTables } from './steps/share-tables.ts';
import { sharedTables } from './steps/shared-tables.ts';
import { signInTables } from './steps/sign-in-tables.ts';
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
];

/** Where a database says which schema it has; 0 for none yet. */
export interface SchemaVersion {
  /** Makes sure that one process at a time migrates, where the transaction alone does not. */
  begin?(transaction: Transaction<Tables>): Promise<void>;
  read(query: Kysely<Tables>): Promise<number>;
  write(transaction: Transaction<Tables>, version: number): Promise<void>;
}

/** Brings the schema up to date in one transaction, or leaves it as it was. */
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
    // Another process may have migrated while this one waited for the lock.
    await stored.begin?.(transaction);
    const version = known(await stored.read(transaction), migrations, file);
    for (const step of migrations.slice(version)) await step(transaction);
    await stored.write(transaction, migrations.length);
  });
}

function known(version: number, migrations: readonly Migration[], file: string): number {
  if (version <= migrations.length) return version;
  throw storeError('newer', {
    file,
    message:
      `The database ${file} has schema ${version}, this version of Trunkline knows ${migrations.length}. ` +
      'It was left as it is: update Trunkline, or use another one (TRUNKLINE_HOME, or storage.url).',
  });
}
