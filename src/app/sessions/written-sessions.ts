import { createHash } from 'node:crypto';

import type { Kysely } from 'kysely';

import type { OldSession, SessionMemory, SessionNews } from '../../downstream/sessions/kept-session.ts';
import { SESSION_MS } from '../../downstream/sessions/sealed-ids.ts';
import { changedState, NEW_SESSION, readState } from '../../downstream/sessions/session-state.ts';
import type { SessionChange, SessionState } from '../../downstream/sessions/session-state.ts';
import { coalesce } from '../../lib/coalesce.ts';
import { deriveKey } from '../../lib/derived-key.ts';
import { seal, unseal } from '../../lib/sealed.ts';
import type { Database } from '../../storage/database.ts';
import type { Tables } from '../../storage/tables.ts';

interface WrittenDeps {
  readonly database: () => Promise<Database>;
  /** Whether anything can have been written yet; asking must not make a database. */
  readonly isStored: () => boolean;
  /** What was set is encrypted, since addresses that clients follow may have secrets in them. */
  readonly secret: () => Promise<Buffer>;
  /** Told when others may have written; absent where there are none. */
  readonly onChange?: ((listener: () => void) => void) | undefined;
  readonly now: () => number;
}

const SWEEP_EVERY_MS = 10 * 60 * 1000;
/** Gateways that hear of the same revocation write it down once. */
const SAME_END_MS = 5000;
const ENDED = 'ended';

/** Sessions in the database: a row for each in which something was set, or that was ended. */
export class WrittenSessions implements SessionMemory {
  readonly #deps: WrittenDeps;
  #key: Buffer | undefined;
  #seen: number | undefined;
  #sweptAt = 0;

  constructor(deps: WrittenDeps) {
    this.#deps = deps;
  }

  async read({ id, caller, issuedAt }: OldSession): Promise<SessionState | 'ended' | undefined> {
    if (!this.#deps.isStored()) return undefined;
    const { query } = await this.#deps.database();
    const ids = [id, rowOf(caller)];
    const rows = await query.selectFrom('sessions').selectAll().where('id', 'in', ids).execute();
    const own = rows.find((row) => row.id === id);
    const ofAll = rows.find((row) => row.id !== id);
    if (ofAll !== undefined && endOf(ofAll) >= issuedAt) return 'ended';
    return own && stateOf(own, await this.#sealing());
  }

  async change(id: string, change: SessionChange, expiresAt: number): Promise<void> {
    const key = await this.#sealing();
    await this.#write(id, expiresAt, (body) => {
      const before = body === undefined ? NEW_SESSION : stateOf({ id, body }, key);
      if (before === 'ended') return undefined;
      const after = changedState(before, change);
      return after === before ? undefined : seal(JSON.stringify(after), key, about(id));
    });
  }

  async end(id: string, expiresAt: number): Promise<void> {
    await this.#write(id, expiresAt, () => ENDED);
  }

  async endOf(caller: string, expiresAt: number): Promise<void> {
    const now = this.#deps.now();
    await this.#write(rowOf(caller), expiresAt, (body) =>
      body !== undefined && Number(body) > now - SAME_END_MS ? undefined : String(now),
    );
  }

  follow(listener: (news: readonly SessionNews[]) => void): void {
    const look = coalesce(async () => {
      try {
        listener(await this.#news());
      } catch {
        // Best effort: the database is away, and when it is back this is called again.
      }
    });
    const { onChange } = this.#deps;
    if (onChange === undefined) return;
    onChange(() => void look());
    // From here on everything is news.
    void look();
  }

  async #news(): Promise<readonly SessionNews[]> {
    const { query } = await this.#deps.database();
    const seen = this.#seen;
    if (seen === undefined) {
      // Whatever was written before is read with the session that it is about.
      const { last } = await query
        .selectFrom('sessions')
        .select(({ fn }) => fn.max('revision').as('last'))
        .executeTakeFirstOrThrow();
      this.#seen = Number(last ?? 0);
      return [];
    }
    const rows = await query
      .selectFrom('sessions')
      .selectAll()
      .where('revision', '>', seen)
      .orderBy('revision')
      .execute();
    this.#seen = Math.max(seen, ...rows.map(({ revision }) => revision));
    const key = await this.#sealing();
    return rows
      .filter(({ id }) => !id.startsWith('caller:'))
      .map((row) => ({ id: row.id, state: stateOf(row, key) }));
  }

  async #sealing(): Promise<Buffer> {
    return (this.#key ??= deriveKey(await this.#deps.secret(), 'trunkline session state'));
  }

  /** All writers take turns, since each counts the change first: nothing that another one wrote is lost. */
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
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    await query.deleteFrom('sessions').where('expires_at', '<=', now).execute();
    // Of gateways that could not take their own away.
    await query
      .deleteFrom('session_streams')
      .where('opened_at', '<=', now - SESSION_MS)
      .execute();
  }
}

function stateOf(
  { id, body }: { readonly id: string; readonly body: string },
  key: Buffer,
): SessionState | 'ended' {
  if (body === ENDED) return 'ended';
  const text = unseal(body, key, about(id));
  // Not written by us, or with another key; nothing of it can be used.
  return text === undefined ? NEW_SESSION : readState(JSON.parse(text));
}

function about(id: string): readonly string[] {
  return ['session state', id];
}

function endOf({ body }: { readonly body: string }): number {
  return Number(body);
}

function rowOf(caller: string): string {
  return `caller:${createHash('sha256').update(caller).digest('base64url')}`;
}
