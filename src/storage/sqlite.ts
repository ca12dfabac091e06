import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import type { CompiledQuery, DatabaseConnection, Dialect, Driver, QueryResult } from 'kysely';
import Libsql from 'libsql';

import { GatewayError } from '../model/errors.ts';
import type { Database } from './database.ts';
import { migrate } from './migrations.ts';
import type { SchemaVersion } from './migrations.ts';
import type { PreparedQuery } from './prepared-query.ts';
import { SqliteChanges } from './sqlite-changes.ts';
import { classifyStoreError, sqliteCode, storeError } from './store-error.ts';
import type { Tables } from './tables.ts';

type Statement = ReturnType<Libsql.Database['prepare']>;

export interface SqliteOptions {
  readonly file: string;
  readonly lockTimeoutMs: number;
  readonly signal: AbortSignal;
  /** How often changes of other processes are looked for. */
  readonly lookEveryMs?: number | undefined;
}

/** How long SQLite itself may wait for a lock. It blocks the whole process; longer waits are ours, between attempts. */
const BLOCKING_WAIT_MS = 5;
const PAUSE_MS = 20;
const SQLITE_BUSY = 5;
/** Reading every page of a larger database would hold up the process for longer than it is worth. */
const CHECKED_WHOLE_BYTES = 16 * 1024 * 1024;

export async function openSqlite(options: SqliteOptions): Promise<Omit<Database, 'movedAside'>> {
  const driver = new SqliteDriver(options);
  const query = new Kysely<Tables>({ dialect: dialectOf(driver) });
  try {
    await query.connection().execute(checkHealth(options.file));
    await migrate(query, { file: options.file, version: sqliteVersion });
  } catch (error) {
    await driver.close();
    throw classifyStoreError(error, options.file);
  }
  const changes = new SqliteChanges(query, options.lookEveryMs);
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
 * Kysely's own driver with three differences: a lock is waited for without blocking the process, a transaction takes
 * its write lock when it begins (so that it cannot fail half-way for a lock), and errors are classified.
 */
class SqliteDriver implements Driver {
  readonly #options: SqliteOptions;
  readonly #closing = new AbortController();
  #connection: SqliteConnection | undefined;
  /** Ends when the one connection is free. */
  #turn: Promise<void> = Promise.resolve();
  #endTurn: () => void = () => {};
  #closed: Promise<void> | undefined;

  constructor(options: SqliteOptions) {
    this.#options = options;
  }

  async init(): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, this.#options.signal]);
    const connection = new SqliteConnection({ ...this.#options, signal });
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

  /** Lets the work that has the connection finish, then closes. */
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
  readonly #database: Libsql.Database;
  readonly #options: SqliteOptions;
  /** Those that are run again and again, by name; see `preparedQuery`. */
  readonly #kept = new Map<string, Statement>();

  constructor(options: SqliteOptions) {
    this.#options = options;
    this.#database = new Libsql(options.file, { timeout: BLOCKING_WAIT_MS });
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
    // What has failed may count as running.
    this.#kept.clear();
    // SQLite has already rolled back after some errors, a full disk among them.
    if (this.#database.inTransaction) this.#database.exec('rollback');
  }

  async executeQuery<Row>(compiled: CompiledQuery | PreparedQuery): Promise<QueryResult<Row>> {
    const { query } = compiled;
    const isWrite = query.kind !== 'SelectQueryNode' && query.kind !== 'RawNode';
    if (!isWrite || this.#database.inTransaction) return this.#whenFree(() => this.#run<Row>(compiled));
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
      // Prepared statements keep the file open until they are collected, so closing alone would leave the log behind.
      this.#database.exec('pragma wal_checkpoint(TRUNCATE)');
    } catch {
      // Best effort: another process is reading, and the log is as durable as the database.
    }
    this.#database.close();
  }

  /**
   * Without a prepared statement: one that has met a lock counts as running until it is collected, and no transaction
   * can end before that. This is also why every write is inside a transaction, which has its lock from the beginning.
   */
  #execute(text: string): Promise<void> {
    return this.#whenFree(() => void this.#database.exec(text));
  }

  /** Tries again while `attempt` meets a lock. */
  async #whenFree<T>(attempt: () => T): Promise<T> {
    const { file, lockTimeoutMs, signal } = this.#options;
    const giveUpAt = performance.now() + lockTimeoutMs;
    for (;;) {
      let cause: unknown;
      try {
        return attempt();
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_BUSY) throw classifyStoreError(error, file);
        cause = error;
      }
      // Work in progress when the database is closed may finish, but waits for nobody.
      if (signal.aborted) throw classifyStoreError(signal.reason, file);
      if (performance.now() > giveUpAt) throw storeError('busy', { file, cause });
      await delay(PAUSE_MS * (0.5 + Math.random()));
    }
  }

  #run<Row>(compiled: CompiledQuery | PreparedQuery): QueryResult<Row> {
    const values = compiled.parameters.map(bindable);
    const statement = this.#prepared(compiled);
    // The cast is Kysely's contract: the caller names the rows that its query gives.
    if (statement.reader) return { rows: statement.all(values) as Row[] };
    const { changes } = statement.run(values);
    return { rows: [], numAffectedRows: BigInt(changes) };
  }

  /** Kept only where no lock is met, which is within a transaction. */
  #prepared(compiled: CompiledQuery | PreparedQuery): Statement {
    const name = this.#database.inTransaction && 'statement' in compiled ? compiled.statement : undefined;
    const kept = name === undefined ? undefined : this.#kept.get(name);
    if (kept !== undefined) return kept;
    const statement = this.#database.prepare(compiled.sql);
    if (name !== undefined) this.#kept.set(name, statement);
    return statement;
  }
}

/** `libsql` ends the whole process when it is given a boolean. */
function bindable(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value;
}
