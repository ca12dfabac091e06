import type { CompiledQuery, DatabaseConnection, Driver, QueryResult } from 'kysely';
import pg from 'pg';
import type { Pool, PoolClient } from 'pg';

import { GatewayError } from '../../model/errors.ts';
import { storeError } from '../store-error.ts';
import type { PreparedQuery } from '../prepared-query.ts';
import type { PostgresServer } from '../store-place.ts';
import { connectionOptions } from './connection-options.ts';
import { endClients } from './end-client.ts';
import { classifyPostgresError, placeOf } from './postgres-error.ts';

export interface DriverOptions {
  readonly server: PostgresServer;
  readonly lockTimeoutMs: number;
  /** Those who write in different lanes do not wait for each other. */
  readonly lane: Lane;
}

/** `audit` has tables of its own and much to write. */
export type Lane = 'state' | 'audit';

/** First key of our advisory locks; it is only ours by being unlikely. */
export const LOCK_CLASS = 0x74_72_6c_6e;
const LANES: Readonly<Record<Lane, number>> = { state: 1, audit: 2 };
const IDLE_MS = 30_000;

/**
 * Transactions follow each other as they do in SQLite, across all processes: each takes the lock of its lane when it begins.
 * What is read inside is therefore not changed by others before it is written.
 */
export class PostgresDriver implements Driver {
  readonly #pool: Pool;
  readonly #clients = new Set<PoolClient>();
  readonly #begin: string;
  readonly #place: string;
  #closed: Promise<void> | undefined;

  constructor({ server, lockTimeoutMs, lane }: DriverOptions) {
    this.#place = placeOf(server.url);
    this.#begin = `begin; select pg_advisory_xact_lock(${LOCK_CLASS}, ${LANES[lane]})`;
    this.#pool = new pg.Pool({
      ...connectionOptions(server, lockTimeoutMs),
      max: server.poolSize,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    // A connection that nobody uses was lost; the next one who needs one gets another.
    this.#pool.on('error', () => {});
    this.#pool.on('connect', (client) => this.#clients.add(client));
    this.#pool.on('remove', (client) => this.#clients.delete(client));
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<PostgresConnection> {
    if (this.#closed !== undefined) throw storeError('closed', { file: this.#place });
    try {
      return new PostgresConnection(await this.#pool.connect(), this.#place);
    } catch (error) {
      throw classifyPostgresError(error, this.#place);
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
      connection.isBroken = true; // The server rolls back what a lost connection began.
    }
  }

  destroy(): Promise<void> {
    return this.close();
  }

  /** Lets the work that has a connection finish within reason, then closes. */
  close(): Promise<void> {
    return (this.#closed ??= endClients(this.#pool.end(), this.#clients));
  }
}

class PostgresConnection implements DatabaseConnection {
  readonly #client: PoolClient;
  readonly #place: string;
  readonly #onError = (): void => void (this.isBroken = true);
  isBroken = false;

  constructor(client: PoolClient, place: string) {
    this.#client = client;
    this.#place = place;
    // Whoever waits for an answer is told; without a listener the process would end.
    client.on('error', this.#onError);
  }

  async executeQuery<Row>(query: CompiledQuery | PreparedQuery): Promise<QueryResult<Row>> {
    const name = 'statement' in query ? query.statement : undefined;
    const { rows, rowCount, command } = await this.run(query.sql, query.parameters.map(bindable), name);
    const isWrite = command === 'INSERT' || command === 'UPDATE' || command === 'DELETE';
    // The cast is Kysely's contract: the caller names the rows that its query gives.
    return { rows: rows as Row[], ...(isWrite && { numAffectedRows: BigInt(rowCount ?? 0) }) };
  }

  streamQuery<Row>(): AsyncIterableIterator<QueryResult<Row>> {
    throw new GatewayError('INVARIANT', 'Streaming queries are not supported.');
  }

  async run(text: string, values?: unknown[], name?: string): Promise<pg.QueryResult> {
    try {
      return await (values === undefined
        ? this.#client.query(text)
        : this.#client.query({ text, values, ...(name !== undefined && { name }) }));
    } catch (error) {
      const classified = classifyPostgresError(error, this.#place);
      if (classified.code === 'STORE_AWAY') this.isBroken = true;
      throw classified;
    }
  }

  release(): void {
    this.#client.off('error', this.#onError);
    this.#client.release(this.isBroken);
  }
}

/** As SQLite keeps it; PostgreSQL has no place for the character NUL. */
function bindable(value: unknown): unknown {
  if (typeof value === 'boolean') return Number(value);
  return typeof value === 'string' ? value.replaceAll('\0', '\uFFFD') : value;
}
