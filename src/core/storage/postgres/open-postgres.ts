import { Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import type { DataTypeNode } from 'kysely';

import type { Database } from '../database.ts';
import { migrate } from '../migrations.ts';
import type { SchemaVersion } from '../migrations.ts';
import type { Tables } from '../tables.ts';
import { PostgresChangeNotifier } from './postgres-change-notifier.ts';
import { PostgresDriver, ADVISORY_LOCK_NAMESPACE } from './postgres-driver.ts';
import type { PostgresDriverOptions } from './postgres-driver.ts';
import { classifyPostgresError, formatPostgresAddress } from './postgres-error.ts';
import { PostgresLeases } from './postgres-leases.ts';

/** Opens PostgreSQL with the same tables and queries as SQLite. */
export async function openPostgres(options: PostgresDriverOptions): Promise<Database> {
  const { server } = options;
  const file = formatPostgresAddress(server.url);
  const driver = new PostgresDriver(options);
  const query = new Kysely<Tables>({
    dialect: {
      createDriver: () => driver,
      createAdapter: () => new PostgresAdapter(),
      createQueryCompiler: () => new Compiler(),
      createIntrospector: (inner) => new PostgresIntrospector(inner),
    },
  });
  try {
    await migrate(query, { file, version: POSTGRES_VERSION });
  } catch (error) {
    await driver.close();
    throw classifyPostgresError(error, file);
  }
  const changes = new PostgresChangeNotifier(server);
  const leases = new PostgresLeases(server);
  return {
    engine: 'postgres',
    query,
    changes,
    leases,
    movedAside: undefined,
    async [Symbol.asyncDispose]() {
      await Promise.all([changes[Symbol.asyncDispose](), leases[Symbol.asyncDispose]()]);
      await driver.close();
    },
  };
}

/** Gives column types the meaning they have in SQLite: integers up to 2^53, and text ordered by bytes. */
class Compiler extends PostgresQueryCompiler {
  protected override visitDataType(node: DataTypeNode): void {
    if (node.dataType === 'integer') this.append('bigint');
    else if (node.dataType === 'text') this.append('text collate "C"');
    else super.visitDataType(node);
  }
}

/** Second key of the advisory lock for migrations. It differs from the lanes of `PostgresDriver`. */
const MIGRATION_LOCK = 0;

const POSTGRES_VERSION: SchemaVersion = {
  async begin(transaction) {
    await sql`select pg_advisory_xact_lock(${sql.lit(ADVISORY_LOCK_NAMESPACE)}, ${sql.lit(MIGRATION_LOCK)})`.execute(
      transaction,
    );
  },
  async read(query) {
    // `to_regclass` may answer from a cache that is older than our lock.
    const table = await sql`select 1 from pg_class where relname = 'schema_version'
      and relnamespace = (select oid from pg_namespace where nspname = current_schema())`.execute(query);
    if (table.rows.length === 0) return 0;
    const { rows } = await sql<{ version: number }>`select version from schema_version`.execute(query);
    return rows[0]?.version ?? 0;
  },
  async write(transaction, version) {
    await sql`create table if not exists schema_version (one bigint primary key, version bigint not null)`.execute(
      transaction,
    );
    await sql`insert into schema_version (one, version) values (1, ${version})
      on conflict (one) do update set version = excluded.version`.execute(transaction);
  },
};
