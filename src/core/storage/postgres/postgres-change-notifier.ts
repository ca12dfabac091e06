import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import pg from 'pg';
import type { Client } from 'pg';

import { coalesce } from '../../lib/coalesce.ts';
import { incrementChangeCounter, TopicListeners } from '../change-notifier.ts';
import type { ChangeNotifier, ChangeTopic } from '../change-notifier.ts';
import type { PostgresServer } from '../store-location.ts';
import type { Tables } from '../tables.ts';
import { buildConnectionOptions } from './connection-options.ts';
import { endClients } from './end-clients.ts';

const CHANNEL = 'trunkline';
/** Interval at which the counters are read without a notification, which also detects a connection that was lost silently. */
const POLL_INTERVAL_MS = 3000;
/** Maximum average pause before the next attempt to connect. */
const MAX_PAUSE_MS = 2000;
const LOCK_TIMEOUT_MS = 3000;

/**
 * Uses LISTEN and NOTIFY on a separate connection, which is opened for the first listener. A notification only triggers a comparison of the
 * counters in the database, so no change is missed while the connection is down.
 */
export class PostgresChangeNotifier implements ChangeNotifier, AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #listeners = new TopicListeners();
  readonly #poll = coalesce(() => this.#pollNow());
  #client: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  #failures = 0;
  #isClosed = false;

  constructor(server: PostgresServer) {
    this.#server = server;
  }

  async announce(transaction: Kysely<Tables>, topic: ChangeTopic): Promise<void> {
    const revision = await incrementChangeCounter(transaction, topic);
    await sql`select pg_notify(${CHANNEL}, ${`${topic} ${revision}`})`.execute(transaction);
  }

  on(topic: ChangeTopic, listener: () => void): Disposable {
    const listening = this.#listeners.on(topic, listener);
    if (this.#client === undefined && this.#timer === undefined && !this.#isClosed) void this.#connect();
    return listening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await endClients(client.end(), [client]);
  }

  async #connect(): Promise<void> {
    const { connectTimeoutMs } = this.#server;
    const client = new pg.Client({
      ...buildConnectionOptions(this.#server, LOCK_TIMEOUT_MS),
      query_timeout: connectTimeoutMs,
    });
    this.#client = client;
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', () => void this.#poll());
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch {
      this.#lost(client); // The problem is reported by the queries that it affects; this connection only tries again.
      return;
    }
    const isAgain = this.#failures > 0;
    this.#failures = 0;
    await this.#poll();
    // After a loss all listeners are called, because they may have to retry writes that failed in the meantime.
    if (isAgain) this.#listeners.notifyAll();
    this.#schedulePoll(client);
  }

  #schedulePoll(client: Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#timer = setTimeout(
      () => void this.#poll().then(() => this.#schedulePoll(client)),
      POLL_INTERVAL_MS,
    ).unref();
  }

  async #pollNow(): Promise<void> {
    const client = this.#client;
    if (client === undefined) return;
    try {
      const { rows } = await client.query<Tables['changes']>('select topic, revision from changes');
      if (this.#client === client) this.#listeners.take(rows);
    } catch {
      this.#lost(client); // The problem is reported as in `#connect`.
    }
  }

  #lost(client: Client): void {
    if (this.#client !== client || this.#isClosed) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    void endClients(client.end(), [client]);
    const pause = Math.min(MAX_PAUSE_MS, 100 * 2 ** this.#failures++) * (0.5 + Math.random());
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#connect();
    }, pause).unref();
  }
}
