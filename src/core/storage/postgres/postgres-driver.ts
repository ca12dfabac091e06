import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import pg from 'pg';
import type { Pool, PoolClient } from 'pg';

import { GatewayError } from '../../errors.ts';
import { storeError } from '../store-error.ts';
import type { PreparedQuery } from '../prepared-query.ts';
import type { PostgresServer } from '../store-location.ts';
import { buildConnectionOptions } from './connection-options.ts';
import { endClients } from './end-clients.ts';
import { classifyPostgresError, formatPostgresAddress } from './postgres-error.ts';

export interface PostgresDriverOptions {
  readonly server: PostgresServer;
  readonly lockTimeoutMs: number;
  /** Transactions of different lanes do not wait for each other. */
  readonly lane: TransactionLane;
}

/** The audit log has its own lane, because it writes often and only to its own tables. */
export type TransactionLane = 'state' | 'audit';

/** The first key of all our advisory locks. Other applications are unlikely to use this number. */
export const ADVISORY_LOCK_NAMESPACE = 0x74_72_6c_6e;
const LANES: Readonly<Record<TransactionLane, number>> = { state: 1, audit: 2 };
/** Idle time after which the pool closes a connection. */
const IDLE_MS = 30_000;

/**
 * Serializes transactions across all processes, as SQLite does. Each transaction acquires the advisory lock of its lane when it begins;
 * until it ends, no other process changes the rows that it has read.
 */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #clients = new Set<PoolClient>();
  readonly #begin: string;
  readonly #address: string;
  #closed: Promise<void> | undefined;

  constructor({ server, lockTimeoutMs, lane }: PostgresDriverOptions) {
    this.#address = formatPostgresAddress(server.url);
    this.#begin = `begin; select pg_advisory_xact_lock(${ADVISORY_LOCK_NAMESPACE}, ${LANES[lane]})`;
    this.#pool = new pg.Pool({
      ...buildConnectionOptions(server, lockTimeoutMs),
      max: server.poolSize,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    // The loss of an idle connection needs no action, because the pool opens another one when needed.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#clients.add(client));
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#closed !== undefined) throw storeError('closed', { file: this.#address });
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#address);
    } catch (error) {
      throw classifyPostgresError(error, this.#address);
    }
  }

  async releaseConnection(connection: PostgresConnection): Promise<void> {
    connection.release();
  }

  async beginTransaction(connection: PostgresConnection): Promise<void> {
    try {
      await connection.run(this.#begin);
    } catch (error) {
      await this.rollbackTransaction(connection);
      throw error;
    }
  }

  async commitTransaction(connection: PostgresConnection): Promise<void> {
    await connection.run('commit');
  }

  async rollbackTransaction(connection: PostgresConnection): Promise<void> {
    try {
      await connection.run('rollback');
    } catch {
      connection.isBroken = true; // The pool closes a broken connection, and the database then rolls back its transaction.
    }
  }

  destroy(): Promise<void> {
    return this.close();
  }

  /** Closes the connections after running work has finished, or after a bounded time. */
  close(): Promise<void> {
    return (this.#closed ??= endClients(this.#pool.end(), this.#clients));
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #address: string;
  readonly #onError = (): void => void (this.isBroken = true);
  isBroken = false;

  constructor(client: PoolClient, address: string) {
    this.#client = client;
    this.#address = address;
    // The pending query rejects as well, but without a listener the error event would end the process.
    client.on('error', this.#onError);
  }

  async executeQuery<Row>(query: CompiledQuery | PreparedQuery): Promise<QueryResult<Row>> {
    const name = 'statement' in query ? query.statement : undefined;
    const { rows, rowCount, command } = await this.run(query.sql, query.parameters.map(bindable), name);
    const isWrite = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
    // Kysely's contract: the caller declares the type of the rows.
    return { rows: rows as Row[], ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }) };
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new GatewayError('INVARIANT', 'Streaming queries are not supported.');
  }

  async run(text: string, values?: unknown[], name?: string): Promise<pg.QueryResult> {
    try {
      return await (values === undefined
        ? this.#client.query(text)
        : this.#client.query({ text, values, name }));
    } catch (error) {
      const classified = classifyPostgresError(error, this.#address);
      if (classified.code === 'STORE_AWAY') this.isBroken = true;
      throw classified;
    }
  }

  release(): void {
    this.#client.off('error', this.#onError);
    this.#client.release(this.isBroken);
  }
}

/** Converts booleans to numbers, as SQLite stores them, and NUL characters to U+FFFD, because PostgreSQL cannot store NUL in text. */
function bindable(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
