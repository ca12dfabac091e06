import { statSync } from 'node:fs';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';

import { GatewayError } from '../errors.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations.ts';
import type { SchemaVersion } from './migrations.ts';
import type { PreparedQuery } from './prepared-query.ts';
import { loadSqliteBinding } from './sqlite-binding.ts';
import type { SqliteBinding, SqliteFile, SqliteStatement } from './sqlite-binding.ts';
import { SqliteChangeNotifier } from './sqlite-change-notifier.ts';
import { classifyStoreError, sqliteCode, storeError } from './store-error.ts';
import type { Tables } from './tables.ts';

export interface SqliteOptions {
  readonly file: string;
  /** Maximum time that a statement waits for a lock of another process. */
  readonly lockTimeoutMs: number;
  /** Aborting it ends waits for locks. */
  readonly signal: AbortSignal;
  /** Polling interval for changes by other processes, in milliseconds. */
  readonly pollIntervalMs?: number | undefined;
  /** Tests choose a binding; the default is `loadSqliteBinding`. */
  readonly binding?: SqliteBinding;
}

/**
 * Maximum time that SQLite itself waits for a lock, which blocks the process. For longer waits, the driver repeats the attempt after pauses
 * that do not block.
 */
const BLOCKING_WAIT_MS = 5;
/** Average pause between two attempts to get a lock. */
const PAUSE_MS = 20;
/** Maximum time that statements, which block the process, may take in one turn of the event loop. The next statement waits for another turn. */
const MAX_TURN_MS = 15;
/** The result code of SQLite for a lock that another connection holds. */
const SQLITE_BUSY = 5;
/** The size above which a database is not checked page by page, because the check blocks the process. */
const CHECKED_WHOLE_BYTES = 16 * 1024 * 1024;

/** Opens and migrates a database file. Rejects with the problem `damaged` if its check fails. */
export async function openSqlite(options: SqliteOptions): Promise<Omit<Database, 'movedAside'>> {
  const driver = new SqliteDriver(options, options.binding ?? (await loadSqliteBinding()));
  const query = new Kysely<Tables>({ dialect: dialectOf(driver) });
  try {
    await query.connection().execute(checkHealth(options.file));
    await migrate(query, { file: options.file, version: sqliteVersion });
  } catch (error) {
    await driver.close();
    throw classifyStoreError(error, options.file);
  }
  const changes = new SqliteChangeNotifier(query, options.pollIntervalMs);
  return {
    engine: 'sqlite',
    query,
    changes,
    async [Symbol.asyncDispose]() {
      changes[Symbol.dispose]();
      await driver.close();
    },
  };
}

export const sqliteVersion: SchemaVersion = {
  async read(query) {
    const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(query);
    return rows[0]?.user_version ?? 0;
  },
  async write(transaction, version) {
    await sql.raw(`pragma user_version = ${version}`).execute(transaction);
  },
};

/** Returns a check that throws if the file is not a database or is damaged. */
function checkHealth(file: string): (query: Kysely<Tables>) => Promise<void> {
  return async (query) => {
    await sql`select count(*) from sqlite_schema`.execute(query);
    if (statSync(file).size > CHECKED_WHOLE_BYTES) return;
    const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(query);
    const verdict = rows[0]?.quick_check;
    if (verdict !== 'ok') throw storeError('damaged', { file, cause: new Error(verdict ?? 'no verdict') });
  };
}

function dialectOf(driver: Driver): Dialect {
  return {
    createDriver: () => driver,
    createAdapter: () => new SqliteAdapter(),
    createQueryCompiler: () => new SqliteQueryCompiler(),
    createIntrospector: (query) => new SqliteIntrospector(query),
  };
}

/**
 * A driver like Kysely's own for SQLite, with three differences: it waits for locks without blocking the process, a transaction takes its
 * write lock when it begins (so that it cannot meet a lock later), and errors are classified.
 */
class SqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  readonly #binding: SqliteBinding;
  readonly #closing = new AbortController();
  #connection: SqliteConnection | undefined;
  /** Settles when the last caller in the queue for the single connection has released it. */
  #turn: Promise<void> = Promise.resolve();
  /** Ends the turn of the caller that has the connection now. */
  #endTurn: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(options: SqliteOptions, binding: SqliteBinding) {
    this.#options = options;
    this.#binding = binding;
  }

  async init(): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, this.#options.signal]);
    const connection = new SqliteConnection({ ...this.#options, signal }, this.#binding);
    this.#connection = connection;
    await connection.setUp();
  }

  async acquireConnection(): Promise<SqliteConnection> {
    const previous = this.#turn;
    let end: () => void = () => {};
    this.#turn = new Promise((resolve) => (end = resolve));
    await previous;
    this.#endTurn = end;
    if (this.#connection === undefined || this.#closing.signal.aborted) {
      end();
      throw storeError('closed', { file: this.#options.file });
    }
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#endTurn();
  }

  async beginTransaction(connection: SqliteConnection): Promise<void> {
    await connection.begin();
  }

  async commitTransaction(connection: SqliteConnection): Promise<void> {
    await connection.commit();
  }

  async rollbackTransaction(connection: SqliteConnection): Promise<void> {
    connection.rollback();
  }

  destroy(): Promise<void> {
    return this.close();
  }

  /** Closes the file after running work has finished. Work that waits for the connection is rejected. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const previous = this.#turn;
    this.#closing.abort(storeError('closed', { file: this.#options.file }));
    await previous;
    this.#connection?.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: SqliteFile;
  readonly #options: SqliteOptions;
  /** Prepared statements by name, for reuse; see `prepareQuery`. */
  readonly #kept = new Map<string, SqliteStatement>();

  /** The time of the first statement in this turn of the event loop; undefined before it. */
  #turnBegan: number | undefined;

  constructor(options: SqliteOptions, binding: SqliteBinding) {
    this.#options = options;
    this.#database = binding.open(options.file, { busyTimeoutMs: BLOCKING_WAIT_MS });
    this.#database.exec(`pragma busy_timeout = ${BLOCKING_WAIT_MS}`);
  }

  async setUp(): Promise<void> {
    await this.#execute('pragma journal_mode = WAL');
    await this.#execute('pragma synchronous = NORMAL; pragma foreign_keys = ON');
  }

  begin(): Promise<void> {
    return this.#execute('begin immediate');
  }

  commit(): Promise<void> {
    return this.#execute('commit');
  }

  rollback(): void {
    // SQLite may still consider a failed statement as running, so no statement is reused.
    this.#kept.clear();
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (this.#database.isInTransaction) this.#database.exec('rollback');
  }

  /** Executes a query. A write outside of a transaction gets a transaction of its own; see `#execute` for the reason. */
  async executeQuery<Row>(compiled: CompiledQuery | PreparedQuery): Promise<QueryResult<Row>> {
    const { query } = compiled;
    const isWrite = query.kind !== 'SelectQueryNode' && query.kind !== 'RawNode';
    if (!isWrite || this.#database.isInTransaction) return this.#whenFree(() => this.#run<Row>(compiled));
    await this.begin();
    try {
      const result = this.#run<Row>(compiled);
      await this.commit();
      return result;
    } catch (error) {
      this.rollback();
      throw classifyStoreError(error, this.#options.file);
    }
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new GatewayError('INVARIANT', 'Streaming queries are not supported.');
  }

  close(): void {
    this.#kept.clear();
    try {
      // Prepared statements of libsql keep the file open until they are garbage-collected, so closing alone would not empty the WAL file.
      this.#database.exec('pragma wal_checkpoint(TRUNCATE)');
    } catch {
      // The checkpoint fails while another process reads. That loses nothing, because the WAL file is as durable as the database.
    }
    this.#database.close();
  }

  /**
   * Executes a text without a prepared statement. In libsql, a prepared statement that met a lock counts as running until it is
   * garbage-collected, and until then no transaction can end. For the same reason every write is inside a transaction, which takes its lock
   * at the start.
   */
  #execute(text: string): Promise<void> {
    return this.#whenFree(() => this.#database.exec(text));
  }

  /** Runs `attempt`, and repeats it while another process holds a lock. */
  async #whenFree<T>(attempt: () => T): Promise<T> {
    const { file, lockTimeoutMs, signal } = this.#options;
    if (this.#isTurnLong()) await nextTurn();
    const giveUpAt = performance.now() + lockTimeoutMs;
    for (;;) {
      let cause: unknown;
      try {
        return attempt();
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_BUSY) throw classifyStoreError(error, file);
        cause = error;
      }
      // While the database closes, running work may finish, but it no longer waits for locks.
      if (signal.aborted) throw classifyStoreError(signal.reason, file);
      if (performance.now() > giveUpAt) throw storeError('busy', { file, cause });
      await delay(PAUSE_MS * (0.5 + Math.random()));
    }
  }

  /** Whether statements have run for so long in this turn of the event loop that the next one should wait for another turn. */
  #isTurnLong(): boolean {
    const now = performance.now();
    if (this.#turnBegan !== undefined) return now - this.#turnBegan > MAX_TURN_MS;
    this.#turnBegan = now;
    setImmediate(() => (this.#turnBegan = undefined));
    return false;
  }

  #run<Row>(compiled: CompiledQuery | PreparedQuery): QueryResult<Row> {
    // Kysely's contract: the caller declares the type of the rows.
    return this.#prepared(compiled).run(compiled.parameters.map(bindable)) as QueryResult<Row>;
  }

  /** Returns the statement of a query. It is kept for reuse only within a transaction, where it cannot meet a lock. */
  #prepared(compiled: CompiledQuery | PreparedQuery): SqliteStatement {
    const name = this.#database.isInTransaction && 'statement' in compiled ? compiled.statement : undefined;
    const kept = name === undefined ? undefined : this.#kept.get(name);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(compiled.sql);
    if (name !== undefined) this.#kept.set(name, statement);
    return statement;
  }
}

/**
 * Converts a value that a binding cannot bind: a boolean makes `libsql` end the process, and `node:sqlite` of Node 24 rejects undefined.
 */
function bindable(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : (value ?? null);
}
