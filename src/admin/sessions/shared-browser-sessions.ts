import { createHmac, randomBytes } from 'node:crypto';

import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import { coalesce } from '../../core/lib/coalesce.ts';
import { deriveKey } from '../../core/lib/derive-key.ts';
import { databaseTime } from '../../core/storage/database-time.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Tables } from '../../core/storage/tables.ts';
import {
  sessionExpiry,
  BROWSER_SESSION_IDLE_MS,
  BROWSER_SESSION_LIFETIME_MS,
  MAX_BROWSER_SESSIONS,
  MAX_TICKETS,
  USED_AT_SAVE_INTERVAL_MS,
  TICKET_LIFETIME_MS,
} from './browser-session-store.ts';
import type {
  ActiveBrowserSession,
  NewBrowserSession,
  StoredBrowserSession,
  BrowserSessionStore,
  SignInTicket,
} from './browser-session-store.ts';

interface SharedSessionOptions {
  readonly database: () => Promise<Database>;
  /** Registers a listener that is called after changes by other gateways, and when such a change may have been missed. */
  readonly follow: (listener: () => void) => void;
  /** The secret that all gateways share. Hashes depend on it, so write access to the database alone is not enough to add a session. */
  readonly secret: () => Promise<Buffer>;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Stores sessions in the database that several gateways share, so that a session is valid at all of them. Every gateway keeps all sessions
 * in memory, so that browsers stay signed in while the database is unavailable.
 */
export class SharedBrowserSessions implements BrowserSessionStore {
  readonly #options: SharedSessionOptions;
  readonly #reload = coalesce(() => this.#readAll());
  #sessions: ReadonlyMap<string, StoredBrowserSession> = new Map();
  /** The pending writes of `used_at`, which run one after another. */
  #useWrites: Promise<void> = Promise.resolve();
  #hashKey: Buffer | undefined;

  constructor(options: SharedSessionOptions) {
    this.#options = options;
    // A failure is ignored: the listener is called again when the database is available, and `find` reloads for an unknown session.
    const reload = (): void => void this.#reload().catch(() => {});
    options.follow(reload);
    reload();
  }

  async createTicket(): Promise<SignInTicket> {
    const text = randomBytes(32).toString('base64url');
    const hash = await this.#hash(text);
    const database = await this.#options.database();
    const now = databaseTime(database);
    await database.query.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('browser_tickets').where('expires_at', '<=', now).execute();
      const newest = transaction
        .selectFrom('browser_tickets')
        .select('hash')
        .orderBy('expires_at', 'desc')
        .limit(MAX_TICKETS - 1);
      await transaction.deleteFrom('browser_tickets').where('hash', 'not in', newest).execute();
      const expires_at = sql<number>`${now} + ${sql.lit(TICKET_LIFETIME_MS)}`;
      await transaction.insertInto('browser_tickets').values({ hash, expires_at }).execute();
    });
    return { text, expiresAt: this.#options.now() + TICKET_LIFETIME_MS };
  }

  async redeemTicket(ticket: string): Promise<NewBrowserSession | undefined> {
    const database = await this.#options.database();
    const hash = await this.#hash(ticket);
    // Deleting the row redeems the ticket, so that only one request can succeed.
    const deleted = await database.query
      .deleteFrom('browser_tickets')
      .where('hash', '=', hash)
      .returning(
        sql<number>`case when expires_at > ${databaseTime(database)} then 1 else 0 end`.as('isValid'),
      )
      .executeTakeFirst();
    return deleted?.isValid === 1 ? this.open() : undefined;
  }

  async open(): Promise<NewBrowserSession> {
    const token = randomBytes(32).toString('base64url');
    const now = this.#options.now();
    const hash = await this.#hash(token);
    await this.#change(async (transaction) => {
      await transaction
        .deleteFrom('browser_sessions')
        .where((row) =>
          row.or([
            row('used_at', '<=', now - BROWSER_SESSION_IDLE_MS),
            row('created_at', '<=', now - BROWSER_SESSION_LIFETIME_MS),
          ]),
        )
        .execute();
      const newest = transaction
        .selectFrom('browser_sessions')
        .select('hash')
        .orderBy('used_at', 'desc')
        .limit(MAX_BROWSER_SESSIONS - 1);
      await transaction.deleteFrom('browser_sessions').where('hash', 'not in', newest).execute();
      await transaction
        .insertInto('browser_sessions')
        .values({ hash, created_at: now, used_at: now })
        .execute();
    });
    return { token, id: hash, expiresAt: sessionExpiry({ hash, createdAt: now, usedAt: now }) };
  }

  async find(token: string): Promise<ActiveBrowserSession | undefined> {
    const hash = await this.#hash(token);
    // Another gateway may have opened or extended the session since the last reload.
    if (!this.has(hash)) await this.#reload();
    const session = this.#sessions.get(hash);
    if (session === undefined || !this.has(hash)) return undefined;
    const now = this.#options.now();
    if (now - session.usedAt <= USED_AT_SAVE_INTERVAL_MS)
      return { id: hash, expiresAt: sessionExpiry(session) };
    const extended = { ...session, usedAt: now };
    this.#sessions = new Map(this.#sessions).set(hash, extended);
    this.#writeUse(hash, now);
    return { id: hash, expiresAt: sessionExpiry(extended) };
  }

  has(id: string): boolean {
    const session = this.#sessions.get(id);
    return session !== undefined && sessionExpiry(session) > this.#options.now();
  }

  async close(id: string): Promise<void> {
    await this.#change(async (transaction) => {
      await transaction.deleteFrom('browser_sessions').where('hash', '=', id).execute();
    });
  }

  hasAny(): Promise<boolean> {
    return this.#reload().then(() => [...this.#sessions.keys()].some((id) => this.has(id)));
  }

  saved(): Promise<void> {
    return this.#useWrites;
  }

  /** Returns the keyed hash of a ticket or session token. One key serves both, because each hash is looked up only in its own table. */
  async #hash(token: string): Promise<string> {
    this.#hashKey ??= deriveKey(await this.#options.secret(), 'trunkline browser sessions');
    return createHmac('sha256', this.#hashKey).update(token).digest('base64url');
  }

  #writeUse(hash: string, usedAt: number): void {
    const write = (): Promise<void> =>
      this.#change(async (transaction) => {
        await transaction
          .updateTable('browser_sessions')
          .set({ used_at: usedAt })
          .where('hash', '=', hash)
          .where('used_at', '<', usedAt)
          .execute();
      });
    // A failed write is only reported, because a later use of the session causes another write.
    this.#useWrites = this.#useWrites.then(write).catch(this.#options.onProblem);
  }

  /** Changes the sessions and notifies the other gateways; resolves when this gateway has reloaded them. */
  async #change(work: (transaction: Transaction<Tables>) => Promise<void>): Promise<void> {
    const { query, changes } = await this.#options.database();
    await query.transaction().execute(async (transaction) => {
      await changes.announce(transaction, 'browsers');
      await work(transaction);
    });
    await this.#reload();
  }

  async #readAll(): Promise<void> {
    const { query } = await this.#options.database();
    const rows = await query.selectFrom('browser_sessions').selectAll().execute();
    this.#sessions = new Map(
      rows.map(({ hash, created_at, used_at }) => [hash, { hash, createdAt: created_at, usedAt: used_at }]),
    );
  }
}
