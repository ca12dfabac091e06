import { createHash } from 'node:crypto';

import type { Kysely } from 'kysely';

import { coalesce } from '../../core/lib/coalesce.ts';
import { deriveKey } from '../../core/lib/derive-key.ts';
import { seal, unseal } from '../../core/lib/seal.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Tables } from '../../core/storage/tables.ts';
import { applySettingsChange, DEFAULT_CLIENT_SETTINGS, parseClientSettings } from './client-settings.ts';
import type { ClientSettingsChange, ClientSettings } from './client-settings.ts';
import type { StreamLocations } from './replicas/session-relay.ts';
import { SESSION_LIFETIME_MS } from './sealed-ids.ts';
import type { SessionReference, SessionStore, SessionUpdate } from './session-store.ts';

interface SessionStoreDeps {
  readonly database: () => Promise<Database>;
  /** Returns whether a database exists; reading must not create one. */
  readonly isStored: () => boolean;
  /** Loads the secret that encrypts the settings, since the URIs of subscriptions can contain secrets. */
  readonly secret: () => Promise<Buffer>;
  /** Calls the listener when another replica may have changed the table; absent if there are no other replicas. */
  readonly onChange?: ((listener: () => void) => void) | undefined;
  readonly now: () => number;
}

const SWEEP_INTERVAL_MS = 10 * 60 * 1000;
/** All replicas learn of a revocation and record it. Further records of the same revocation within this time are skipped. */
const SAME_END_MS = 5000;
const ENDED = 'ended';

/**
 * Stores sessions in the database: one row for each session that has settings or has ended, and one for each caller whose sessions were
 * ended. The body of a caller's row is the time of that end; all sessions that were issued up to then have ended.
 */
export class DatabaseSessionStore implements SessionStore {
  readonly #deps: SessionStoreDeps;
  /** The changes of each session that no transaction has taken yet, with the function that saves them. */
  readonly #unsaved = new Map<string, { changes: ClientSettingsChange[]; save: () => Promise<void> }>();
  #key: Buffer | undefined;
  #revision: number | undefined;
  #sweptAt = 0;

  constructor(deps: SessionStoreDeps) {
    this.#deps = deps;
  }

  async read({ id, caller, issuedAt }: SessionReference): Promise<ClientSettings | 'ended' | undefined> {
    if (!this.#deps.isStored()) return undefined;
    const { query } = await this.#deps.database();
    const ids = [id, callerRowId(caller)];
    const rows = await query.selectFrom('sessions').selectAll().where('id', 'in', ids).execute();
    const own = rows.find((row) => row.id === id);
    const callerEnd = rows.find((row) => row.id !== id);
    if (callerEnd !== undefined && Number(callerEnd.body) >= issuedAt) return 'ended';
    return own && readState(own, await this.#encryptionKey());
  }

  /** Changes that arrive during a transaction share the next one, because each rewrites all settings of the session. */
  async saveChange(id: string, change: ClientSettingsChange, expiresAt: number): Promise<void> {
    let unsaved = this.#unsaved.get(id);
    if (unsaved === undefined) {
      const changes: ClientSettingsChange[] = [];
      unsaved = { changes, save: coalesce(() => this.#saveChanges(id, changes.splice(0), expiresAt)) };
      this.#unsaved.set(id, unsaved);
    }
    unsaved.changes.push(change);
    try {
      await unsaved.save();
    } finally {
      if (unsaved.changes.length === 0) this.#unsaved.delete(id);
    }
  }

  async #saveChanges(id: string, changes: readonly ClientSettingsChange[], expiresAt: number): Promise<void> {
    const key = await this.#encryptionKey();
    await this.#write(id, expiresAt, (body) => {
      const before = body === undefined ? DEFAULT_CLIENT_SETTINGS : readState({ id, body }, key);
      if (before === 'ended') return undefined;
      const after = changes.reduce(applySettingsChange, before);
      return after === before ? undefined : seal(JSON.stringify(after), key, sealContext(id));
    });
  }

  async markEnded(id: string, expiresAt: number): Promise<void> {
    await this.#write(id, expiresAt, () => ENDED);
  }

  async markCallerEnded(caller: string, expiresAt: number): Promise<void> {
    const now = this.#deps.now();
    await this.#write(callerRowId(caller), expiresAt, (body) =>
      body !== undefined && Number(body) > now - SAME_END_MS ? undefined : String(now),
    );
  }

  onUpdate(listener: (updates: readonly SessionUpdate[]) => void): void {
    const { onChange } = this.#deps;
    if (onChange === undefined) return;
    const readUpdates = coalesce(async () => {
      try {
        listener(await this.#readUpdates());
      } catch {
        // The database is unavailable; `onChange` calls this function again when it is back.
      }
    });
    onChange(() => void readUpdates());
    // The first call only remembers the newest revision; later calls report the rows that are newer.
    void readUpdates();
  }

  async #readUpdates(): Promise<readonly SessionUpdate[]> {
    const { query } = await this.#deps.database();
    const known = this.#revision;
    if (known === undefined) {
      // Older changes need no report, because `read` returns them when their session is restored.
      const { last } = await query
        .selectFrom('sessions')
        .select(({ fn }) => fn.max('revision').as('last'))
        .executeTakeFirstOrThrow();
      this.#revision = Number(last ?? 0);
      return [];
    }
    const rows = await query
      .selectFrom('sessions')
      .selectAll()
      .where('revision', '>', known)
      .orderBy('revision')
      .execute();
    this.#revision = Math.max(known, ...rows.map(({ revision }) => revision));
    const key = await this.#encryptionKey();
    return rows
      .filter(({ id }) => !id.startsWith('caller:'))
      .map((row) => ({ id: row.id, state: readState(row, key) }));
  }

  async #encryptionKey(): Promise<Buffer> {
    return (this.#key ??= deriveKey(await this.#deps.secret(), 'trunkline session state'));
  }

  /**
   * Replaces the body of a row by the result of `next`; undefined leaves the row unchanged. Every writer first increments the revision,
   * which locks its row until the transaction ends, so that concurrent writers do not overwrite each other.
   */
  async #write(
    id: string,
    expiresAt: number,
    next: (body: string | undefined) => string | undefined,
  ): Promise<void> {
    const { query, changes } = await this.#deps.database();
    await query.transaction().execute(async (transaction) => {
      await changes.announce(transaction, 'sessions');
      const row = await transaction
        .selectFrom('sessions')
        .select('body')
        .where('id', '=', id)
        .executeTakeFirst();
      const body = next(row?.body);
      if (body === undefined) return;
      const { revision } = await transaction
        .selectFrom('changes')
        .select('revision')
        .where('topic', '=', 'sessions')
        .executeTakeFirstOrThrow();
      const values = { id, body, revision, expires_at: expiresAt };
      await transaction
        .insertInto('sessions')
        .values(values)
        .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
        .execute();
    });
    await this.#sweep(query);
  }

  async #sweep(query: Kysely<Tables>): Promise<void> {
    const now = this.#deps.now();
    if (now - this.#sweptAt < SWEEP_INTERVAL_MS) return;
    this.#sweptAt = now;
    await query.deleteFrom('sessions').where('expires_at', '<=', now).execute();
    // Replicas remove these rows themselves unless they stopped unexpectedly.
    await query
      .deleteFrom('session_streams')
      .where('opened_at', '<=', now - SESSION_LIFETIME_MS)
      .execute();
  }
}

interface StreamLocationsDeps {
  readonly self: string;
  readonly database: () => Promise<Database>;
  readonly now: () => number;
}

/** Stores in the database which replica holds the stream of a session. */
export class DatabaseStreamLocations implements StreamLocations {
  readonly #deps: StreamLocationsDeps;

  constructor(deps: StreamLocationsDeps) {
    this.#deps = deps;
  }

  async find(session: string): Promise<string | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('session_streams')
      .select('replica')
      .where('session', '=', session)
      .executeTakeFirst();
    return row?.replica;
  }

  async record(session: string): Promise<void> {
    const { self, database, now } = this.#deps;
    const { query } = await database();
    const values = { session, replica: self, opened_at: now() };
    await query
      .insertInto('session_streams')
      .values(values)
      .onConflict((conflict) => conflict.column('session').doUpdateSet(values))
      .execute();
  }

  async remove(session: string): Promise<void> {
    const { self, database } = this.#deps;
    const { query } = await database();
    await query
      .deleteFrom('session_streams')
      .where('session', '=', session)
      .where('replica', '=', self)
      .execute();
  }
}

function readState(
  { id, body }: { readonly id: string; readonly body: string },
  key: Buffer,
): ClientSettings | 'ended' {
  if (body === ENDED) return 'ended';
  const text = unseal(body, key, sealContext(id));
  // A body that was sealed with another key cannot be read, so the session starts with default settings.
  return text === undefined ? DEFAULT_CLIENT_SETTINGS : parseClientSettings(JSON.parse(text));
}

function sealContext(id: string): readonly string[] {
  return ['session state', id];
}

function callerRowId(caller: string): string {
  return `caller:${createHash('sha256').update(caller).digest('base64url')}`;
}
