import type { QueryResult } from 'kysely';
import type Libsql from 'libsql';

import { storeError } from './store-error.ts';

/**
 * Access to SQLite files, through Node's own module or through a package. A process must use only one of the two, because each would drop
 * the file locks of the other.
 *
 *     const binding = await loadSqliteBinding();
 *     const file = binding.open('trunkline.db', { busyTimeoutMs: 5 });
 *     file.prepare('select ? as one').run([1]).rows; // [{ one: 1 }]
 */
export interface SqliteBinding {
  readonly name: 'node:sqlite' | 'libsql';
  open(file: string, options: SqliteFileOptions): SqliteFile;
}

export interface SqliteFileOptions {
  /** The longest time that SQLite may block the process while it waits for a lock. */
  readonly busyTimeoutMs: number;
}

export interface SqliteFile {
  readonly isInTransaction: boolean;
  exec(text: string): void;
  prepare(text: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  /** Accepts numbers, strings, bytes and null. */
  run(values: readonly unknown[]): QueryResult<unknown>;
}

/** The parts of `process` that decide which binding is used. */
interface NodeRuntime {
  readonly versions: { readonly node: string };
  getBuiltinModule(id: string): object | undefined;
}

/** Loads `node:sqlite` where it is stable, and the package `libsql` elsewhere. */
export async function loadSqliteBinding(runtime: NodeRuntime = process): Promise<SqliteBinding> {
  return loadNodeSqlite(runtime) ?? (await loadLibsql());
}

/**
 * For each major version of Node, the first minor version in which `node:sqlite` prints no ExperimentalWarning. All versions from 26.0 on
 * print none.
 */
const FIRST_STABLE_MINOR: Readonly<Record<number, number>> = { 24: 15, 25: 7 };

/** Returns undefined if the module is experimental in this version of Node, or missing. */
export function loadNodeSqlite(runtime: NodeRuntime): SqliteBinding | undefined {
  const [major = 0, minor = 0] = runtime.versions.node.split('.').map(Number);
  if (major < 26 && minor < (FIRST_STABLE_MINOR[major] ?? Infinity)) return undefined;
  // An import would fail in bundlers and in Node 20, which do not know the module. Node may also have been built without SQLite.
  const module = runtime.getBuiltinModule('node:sqlite') as NodeSqlite | undefined;
  if (module === undefined) return undefined;
  return {
    name: 'node:sqlite',
    open: (file, { busyTimeoutMs }) =>
      new NodeSqliteFile(new module.DatabaseSync(file, { timeout: busyTimeoutMs })),
  };
}

export async function loadLibsql(): Promise<SqliteBinding> {
  const { default: LibsqlDatabase } = await import('libsql').catch((cause: unknown) => {
    const message =
      'SQLite cannot be loaded: the package "libsql" or its binary for this platform is missing. ' +
      'Use Node 24.15 or newer, which has SQLite built in, or install Trunkline with its optional packages.';
    throw storeError('unavailable', { message, cause });
  });
  return {
    name: 'libsql',
    open: (file, { busyTimeoutMs }) => new LibsqlFile(new LibsqlDatabase(file, { timeout: busyTimeoutMs })),
  };
}

/** The parts of `node:sqlite` that are used here. The types of Node 20, the oldest supported version, do not have the module. */
interface NodeSqlite {
  readonly DatabaseSync: new (file: string, options: { readonly timeout: number }) => DatabaseSync;
}

interface DatabaseSync {
  readonly isTransaction: boolean;
  exec(text: string): void;
  prepare(text: string): StatementSync;
  close(): void;
}

interface StatementSync {
  columns(): readonly unknown[];
  all(...values: readonly unknown[]): unknown[];
  run(...values: readonly unknown[]): { readonly changes: number };
}

class NodeSqliteFile implements SqliteFile {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  exec(text: string): void {
    this.#database.exec(text);
  }

  prepare(text: string): SqliteStatement {
    const statement = this.#database.prepare(text);
    const returnsRows = statement.columns().length > 0;
    return {
      run: (values) =>
        returnsRows ? { rows: statement.all(...values) } : changed(statement.run(...values).changes),
    };
  }

  close(): void {
    this.#database.close();
  }
}

class LibsqlFile implements SqliteFile {
  readonly #database: Libsql.Database;

  constructor(database: Libsql.Database) {
    this.#database = database;
  }

  get isInTransaction(): boolean {
    return this.#database.inTransaction;
  }

  exec(text: string): void {
    this.#database.exec(text);
  }

  prepare(text: string): SqliteStatement {
    const statement = this.#database.prepare(text);
    return {
      run: (values) =>
        statement.reader ? { rows: statement.all(values) } : changed(statement.run(values).changes),
    };
  }

  close(): void {
    this.#database.close();
  }
}

function changed(rows: number): QueryResult<unknown> {
  return { rows: [], numAffectedRows: BigInt(rows) };
}
