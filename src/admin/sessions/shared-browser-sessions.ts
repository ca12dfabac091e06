import { randomBytes } from 'node:crypto';

import { sql } from 'kysely';
import type { Transaction } from 'kysely';

import { coalesce } from '../../lib/coalesce.ts';
import { databaseTime } from '../../storage/database-time.ts';
import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';
import {
  expiryOf,
  hashOf,
  IDLE_MS,
  LIFE_MS,
  MAX_SESSIONS,
  MAX_TICKETS,
  NOTE_EVERY_MS,
  TICKET_MS,
} from './session-life.ts';
import type { FoundSession, OpenedSession, SessionLife, SignedInBrowsers, Ticket } from './session-life.ts';

interface SharedOptions {
  readonly database: () => Promise<Database>;
  /** Told when another gateway has changed something, and whenever that may have been missed. */
  readonly follow: (listener: () => void) => void;
  readonly now: () => number;
  readonly onProblem: (error: unknown) => void;
}

/**
 * Browsers that are signed in to all gateways of one database: what one opens or ends counts for all. Every gateway has all
 * sessions in memory, so that who is signed in stays so while the database is away.
 */
export class SharedBrowserSessions implements SignedInBrowsers {
  readonly #options: SharedOptions;
  readonly #look = coalesce(() => this.#read());
  #sessions: ReadonlyMap<string, SessionLife> = new Map();
  #noting: Promise<void> = Promise.resolve();

  constructor(options: SharedOptions) {
    this.#options = options;
    // Best effort: when the database is back it is told again, and who is not known is looked up.
    const look = (): void => void this.#look().catch(() => {});
    options.follow(look);
    look();
  }

  async ticket(): Promise<Ticket> {
    const text = randomBytes(32).toString('base64url');
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
      const expires_at = sql<number>`${now} + ${sql.lit(TICKET_MS)}`;
      await transaction
        .insertInto('browser_tickets')
        .values({ hash: hashOf(text), expires_at })
        .execute();
    });
    return { text, expiresAt: this.#options.now() + TICKET_MS };
  }

  async enter(ticket: string): Promise<OpenedSession | undefined> {
    const database = await this.#options.database();
    const hash = hashOf(ticket);
    // Whoever takes the row away is let in, and nobody else can.
    const used = await database.query
      .deleteFrom('browser_tickets')
      .where('hash', '=', hash)
      .returning(sql<number>`case when expires_at > ${databaseTime(database)} then 1 else 0 end`.as('isGood'))
      .executeTakeFirst();
    return used?.isGood === 1 ? this.open() : undefined;
  }

  async open(): Promise<OpenedSession> {
    const token = randomBytes(32).toString('base64url');
    const now = this.#options.now();
    const hash = hashOf(token);
    await this.#change(async (transaction) => {
      await transaction
        .deleteFrom('browser_sessions')
        .where((row) => row.or([row('used_at', '<=', now - IDLE_MS), row('created_at', '<=', now - LIFE_MS)]))
        .execute();
      const newest = transaction
        .selectFrom('browser_sessions')
        .select('hash')
        .orderBy('used_at', 'desc')
        .limit(MAX_SESSIONS - 1);
      await transaction.deleteFrom('browser_sessions').where('hash', 'not in', newest).execute();
      await transaction
        .insertInto('browser_sessions')
        .values({ hash, created_at: now, used_at: now })
        .execute();
    });
    return { token, id: hash, expiresAt: expiryOf({ hash, createdAt: now, usedAt: now }) };
  }

  async find(token: string): Promise<FoundSession | undefined> {
    const hash = hashOf(token);
    // Another gateway may have opened it, or seen it used, a moment ago.
    if (!this.has(hash)) await this.#look();
    const kept = this.#sessions.get(hash);
    if (kept === undefined || !this.has(hash)) return undefined;
    const now = this.#options.now();
    if (now - kept.usedAt <= NOTE_EVERY_MS) return { id: hash, expiresAt: expiryOf(kept) };
    const used = { ...kept, usedAt: now };
    this.#sessions = new Map(this.#sessions).set(hash, used);
    this.#note(hash, now);
    return { id: hash, expiresAt: expiryOf(used) };
  }

  has(id: string): boolean {
    const kept = this.#sessions.get(id);
    return kept !== undefined && expiryOf(kept) > this.#options.now();
  }

  async close(id: string): Promise<void> {
    await this.#change(async (transaction) => {
      await transaction.deleteFrom('browser_sessions').where('hash', '=', id).execute();
    });
  }

  get isAny(): Promise<boolean> {
    return this.#look().then(() => [...this.#sessions.keys()].some((id) => this.has(id)));
  }

  saved(): Promise<void> {
    return this.#noting;
  }

  #note(hash: string, usedAt: number): void {
    const write = (): Promise<void> =>
      this.#change(async (transaction) => {
        await transaction
          .updateTable('browser_sessions')
          .set({ used_at: usedAt })
          .where('hash', '=', hash)
          .where('used_at', '<', usedAt)
          .execute();
      });
    // Best effort: the next use is written down, too.
    this.#noting = this.#noting.then(write).catch(this.#options.onProblem);
  }

  /** All gateways are told; this one knows when it is done. */
  async #change(work: (transaction: Transaction<Tables>) => Promise<void>): Promise<void> {
    const { query, changes } = await this.#options.database();
    await query.transaction().execute(async (transaction) => {
      await changes.announce(transaction, 'browsers');
      await work(transaction);
    });
    await this.#look();
  }

  async #read(): Promise<void> {
    const { query } = await this.#options.database();
    const rows = await query.selectFrom('browser_sessions').selectAll().execute();
    this.#sessions = new Map(
      rows.map(({ hash, created_at, used_at }) => [hash, { hash, createdAt: created_at, usedAt: used_at }]),
    );
  }
}
