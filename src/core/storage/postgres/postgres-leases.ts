import { setTimeout as delay } from 'node:timers/promises';

import pg from 'pg';
import type { Client } from 'pg';

import { storeError } from '../store-error.ts';
import type { PostgresServer } from '../store-location.ts';
import { buildConnectionOptions } from './connection-options.ts';
import { endClients } from './end-clients.ts';
import { classifyPostgresError, formatPostgresAddress } from './postgres-error.ts';

interface HoldOptions {
  readonly name: string;
  readonly giveUpAfterMs: number;
  readonly pauseMs?: number | undefined;
  readonly signal: AbortSignal;
}

interface Session {
  readonly client: Client;
  readonly lost: AbortController;
}

/** Makes the server notice within about 11 seconds (5 + 3 × 2) that this machine is gone, and then release its leases. */
const NOTICE_SOON =
  'set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 2; set tcp_keepalives_count = 3';
/** Average pause between two attempts to acquire a lease. */
const PAUSE_MS = 50;
const LOCK_TIMEOUT_MS = 3000;

/** Holds leases as advisory locks, which end with their connection and therefore with the process. */
export class PostgresLeases implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #address: string;
  /**
   * The turn of the last caller for each lease. The callers in this process must take turns, because one connection can take the same lock
   * twice.
   */
  readonly #turns = new Map<string, Promise<void>>();
  #session: Promise<Session> | undefined;
  /** The number of callers that hold or wait for a lease. The connection is closed when there are none. */
  #users = 0;

  constructor(server: PostgresServer) {
    this.#server = server;
    this.#address = formatPostgresAddress(server.url);
  }

  /** Runs the work under the lease. The signal aborts if the connection is lost. */
  async hold<T>(options: HoldOptions, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
    const { name, signal } = options;
    const before = this.#turns.get(name);
    let end = (): void => {};
    const own = new Promise<void>((resolve) => (end = resolve));
    const turn = (before ?? Promise.resolve()).then(() => own);
    this.#turns.set(name, turn);
    this.#users++;
    try {
      await waitForTurn(before, signal);
      const session = await this.#opened();
      await this.#acquire(session, options);
      try {
        return await work(session.lost.signal);
      } finally {
        await this.#run(session, UNLOCK, name).catch(() => {}); // If the connection is lost, the lock has ended with it.
      }
    } finally {
      end();
      if (this.#turns.get(name) === turn) this.#turns.delete(name);
      if (--this.#users === 0) await this[Symbol.asyncDispose]();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const session = await this.#session?.catch(() => undefined); // The caller of `hold` has the error.
    this.#session = undefined;
    if (session !== undefined) await endClients(session.client.end(), [session.client]);
  }

  async #acquire(session: Session, options: HoldOptions): Promise<void> {
    const { name, giveUpAfterMs, pauseMs = PAUSE_MS, signal } = options;
    const giveUpAt = performance.now() + giveUpAfterMs;
    while (!(await this.#run(session, LOCK, name))) {
      signal.throwIfAborted();
      if (performance.now() > giveUpAt) throw storeError('busy', { file: this.#address });
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
    }
  }

  async #run({ client }: Session, text: string, name: string): Promise<boolean> {
    try {
      const { rows } = await client.query<{ done: boolean }>(text, [name]);
      return rows[0]?.done === true;
    } catch (error) {
      throw classifyPostgresError(error, this.#address);
    }
  }

  #opened(): Promise<Session> {
    if (this.#session !== undefined) return this.#session;
    const opening = this.#open(() => this.#forget(opening));
    this.#session = opening;
    opening.catch(() => this.#forget(opening)); // The caller of `hold` has the error.
    return opening;
  }

  async #open(onGone: () => void): Promise<Session> {
    const client = new pg.Client(buildConnectionOptions(this.#server, LOCK_TIMEOUT_MS));
    const lost = new AbortController();
    const gone = (): void => {
      lost.abort(storeError('away', { file: this.#address }));
      onGone();
    };
    client.on('error', gone);
    client.on('end', gone);
    try {
      await client.connect();
      await client.query(NOTICE_SOON);
    } catch (error) {
      throw classifyPostgresError(error, this.#address);
    }
    return { client, lost };
  }

  #forget(session: Promise<Session>): void {
    if (this.#session === session) this.#session = undefined;
  }
}

/** The key of an advisory lock. It includes the schema, because several installations may share a database. */
const KEY = "hashtextextended(current_schema() || ' ' || $1, 0)";
const LOCK = `select pg_try_advisory_lock(${KEY}) as done`;
const UNLOCK = `select pg_advisory_unlock(${KEY}) as done`;

/** Waits for the previous holder in this process; rejects if the signal aborts first. */
async function waitForTurn(turn: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  if (turn === undefined) return;
  await new Promise<void>((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
    void turn.then(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    });
  });
}
