import type { UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import { waitAtMost } from '../../core/lib/wait-at-most.ts';
import type { Database } from '../../core/storage/database.ts';
import { releaseLeftoverLease, withLease } from '../../core/storage/lease.ts';
import type { Logger } from '../../observability/log.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { type SignInId, signInKey } from './sign-in-id.ts';
import { SignInStore } from './sign-in-store.ts';
import type { SignInNote, StoredTokens } from './stored-tokens.ts';
import { JsonCipher } from './token-encryption/json-cipher.ts';
import type { KeySource } from './token-encryption/secret-key.ts';
import { TokenWriteBuffer } from './token-write-buffer.ts';

interface TokenVaultDeps {
  readonly database: () => Promise<Database>;
  readonly key: KeySource;
  readonly pid: number;
  readonly now: () => number;
  readonly log: Logger;
  /** Whether `handleExternalChange` is called when another process saves something, which makes polling unnecessary. */
  readonly hasChangeNotifications?: boolean;
  /** Delay before a failed write is retried; a parameter for tests. */
  readonly saveRetryMs?: number;
}

/** A client registration, which is valid only for its redirect address. */
export interface ClientRegistration {
  readonly client: OAuthClient;
  readonly redirectUri: string;
}

/** Duration of the refresh lease; longer than the timeout of any token request. */
const LEASE_MS = 30_000;
/** Maximum time that closing waits for pending token requests; tokens in a later response are lost. */
const CLOSE_TIMEOUT_MS = 4000;
const SAVE_RETRY_MS = 1000;
/** The first character of an unencrypted note, which is a JSON object. */
const PLAIN_START = '{';

/** Stores tokens, client registrations and notes, encrypted in the database. Rows that cannot be decrypted are kept but count as absent. */
export class TokenVault implements AsyncDisposable {
  readonly #deps: TokenVaultDeps;
  readonly #listeners = new Set<{ readonly key: string; readonly notify: () => Promise<unknown> }>();
  readonly #cipher: JsonCipher;
  readonly #store: SignInStore;
  readonly #writeBuffer: TokenWriteBuffer;
  readonly #refreshes = new Set<Promise<unknown>>();
  #revision = 0;

  constructor(deps: TokenVaultDeps) {
    this.#deps = deps;
    const { database, now, saveRetryMs = SAVE_RETRY_MS } = deps;
    this.#cipher = new JsonCipher(deps);
    this.#store = new SignInStore({ database, now, cipher: this.#cipher });
    this.#writeBuffer = new TokenWriteBuffer({
      store: this.#store,
      onSaved: (signInId) => this.#notifyListeners(signInId),
      onSettled: async (signInId) => releaseLeftoverLease(await database(), leaseName(signInId)),
      saveRetryMs,
    });
  }

  /** Whether the vault may hold tokens. Without a key, none were ever saved, so the database need not be opened. */
  get isUsed(): boolean {
    return this.#deps.key.has();
  }

  /** A number that changes whenever another process may have saved something; undefined if the vault has no change notifications. */
  get revision(): number | undefined {
    return this.#deps.hasChangeNotifications === true ? this.#revision : undefined;
  }

  async load(signInId: SignInId): Promise<StoredTokens | undefined> {
    const saved = this.isUsed ? await this.#store.read(signInId) : undefined;
    return this.#writeBuffer.current(signInId, saved?.tokens);
  }

  /** Whether tokens are stored but cannot be decrypted. They stay until the next sign-in. */
  async isUnreadable(signInId: SignInId): Promise<boolean> {
    return (await this.#store.read(signInId)) !== undefined && (await this.load(signInId)) === undefined;
  }

  async save(signInId: SignInId, tokens: StoredTokens): Promise<void> {
    await this.#store.write(signInId, tokens);
    this.#writeBuffer.recordSignIn(signInId, tokens);
    await this.#notifyListeners(signInId);
  }

  /**
   * Saves the result of a refresh in place of the used tokens. Resolves with false if a sign-in or sign-out in the meantime made the
   * result obsolete. Rejects if the result cannot be saved now; this process uses the new tokens nevertheless and retries the write.
   */
  async replace(
    used: StoredTokens,
    tokens: StoredTokens,
    context: { readonly signInId: SignInId; readonly isFirst: boolean },
  ): Promise<boolean> {
    return this.#writeBuffer.replace(used, tokens, context);
  }

  /** Registers a listener, which must not reject. `save` awaits it, so all listeners know the new tokens once `save` resolves. */
  onSaved(signInId: SignInId, notify: () => Promise<unknown>): Disposable {
    const listener = { key: signInKey(signInId), notify };
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Called when another process may have saved something. */
  async handleExternalChange(): Promise<void> {
    this.#revision++;
    await Promise.all([...this.#listeners].map((listener) => listener.notify()));
  }

  async remove(signInId: SignInId): Promise<void> {
    if (this.isUsed) await this.#store.remove(signInId);
    this.#writeBuffer.remove(signInId);
  }

  /** Returns the time at which each sign-in of these upstreams was last saved, which reveals changes by other processes. */
  async savedAt(upstreams: readonly UpstreamName[]): Promise<ReadonlyMap<string, number>> {
    return !this.isUsed || upstreams.length === 0 ? new Map() : this.#store.savedAt(upstreams);
  }

  async listSignInIds(): Promise<readonly SignInId[]> {
    return this.isUsed ? this.#store.listIds() : [];
  }

  async loadClient(issuer: string, upstream: UpstreamName): Promise<ClientRegistration | undefined> {
    if (!this.isUsed) return undefined;
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('oauth_clients')
      .selectAll()
      .where('issuer', '=', issuer)
      .where('upstream', '=', upstream)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const client = await this.#cipher.decrypt(row.body, ['client', issuer, upstream]);
    return client as ClientRegistration | undefined; // Its encryption proves that `saveClient` wrote it.
  }

  async saveClient(issuer: string, upstream: UpstreamName, client: ClientRegistration): Promise<void> {
    const body = await this.#cipher.encrypt(client, ['client', issuer, upstream]);
    const { query } = await this.#deps.database();
    const row = { issuer, upstream, body, saved_at: this.#deps.now() };
    await query
      .insertInto('oauth_clients')
      .values(row)
      .onConflict((conflict) => conflict.columns(['issuer', 'upstream']).doUpdateSet(row))
      .execute();
  }

  async removeClient(issuer: string, upstream: UpstreamName): Promise<void> {
    const { query } = await this.#deps.database();
    await query
      .deleteFrom('oauth_clients')
      .where('issuer', '=', issuer)
      .where('upstream', '=', upstream)
      .execute();
  }

  /** Stores a note for the next sign-in, or deletes it if `note` is undefined. */
  async saveNote(signInId: SignInId, note: SignInNote | undefined): Promise<void> {
    const { query } = await this.#deps.database();
    if (note === undefined) {
      await query
        .deleteFrom('sign_in_notes')
        .where('upstream', '=', signInId.upstream)
        .where('caller', '=', signInId.caller)
        .execute();
      return;
    }
    // A note must not create a key. Without a key, the note stays unencrypted: the database is then a file, protected like a key file.
    const body = this.isUsed ? await this.#cipher.encrypt(note, noteContext(signInId)) : JSON.stringify(note);
    const row = { ...signInId, body, noted_at: this.#deps.now() };
    await query
      .insertInto('sign_in_notes')
      .values(row)
      .onConflict((conflict) => conflict.columns(['upstream', 'caller']).doUpdateSet(row))
      .execute();
  }

  async loadNote(signInId: SignInId): Promise<(SignInNote & { readonly at: number }) | undefined> {
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('sign_in_notes')
      .selectAll()
      .where('upstream', '=', signInId.upstream)
      .where('caller', '=', signInId.caller)
      .executeTakeFirst();
    if (row === undefined) return undefined;
    if (!this.isUsed) return { ...parsePlainNote(row.body), at: row.noted_at };
    if (row.body.startsWith(PLAIN_START)) {
      // A plain note is older than the key, or was written by another program. Its metadata address could belong to an attacker, who would
      // then receive the client secret. The address is therefore dropped, and the next sign-in asks the server for it.
      const { resourceMetadata: _, ...note } = parsePlainNote(row.body);
      return { ...note, at: row.noted_at };
    }
    const note = await this.#cipher.decrypt(row.body, noteContext(signInId));
    return { ...(isJsonObject(note) ? (note as SignInNote) : {}), at: row.noted_at };
  }

  /**
   * Runs `work` while no other process refreshes this sign-in. `work` receives the tokens that are saved at that time, which may be newer
   * than those the caller knows, and a signal that aborts if another process may have taken the lease.
   */
  async withRefreshLease<T>(
    signInId: SignInId,
    work: (current: StoredTokens | undefined, leaseLost: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const { pid, now } = this.#deps;
    const database = await this.#deps.database();
    // The lease is kept while the result is unsaved; otherwise another process would use the same refresh token again.
    const isKept = (): boolean => this.#writeBuffer.isUnsaved(signInId);
    const lease = { database, name: leaseName(signInId), forMs: LEASE_MS, pid, now, signal, isKept };
    const refresh = withLease(lease, async (leaseLost) => work(await this.load(signInId), leaseLost));
    this.#refreshes.add(refresh);
    return refresh.finally(() => this.#refreshes.delete(refresh));
  }

  /** Saves pending tokens before the database closes; otherwise the next start would find only refresh tokens that were already used. */
  async [Symbol.asyncDispose](): Promise<void> {
    const afterRefreshes = Promise.allSettled(this.#refreshes).then(() => this.#writeBuffer.flush());
    await waitAtMost(Promise.allSettled([this.#writeBuffer.flush(), afterRefreshes]), CLOSE_TIMEOUT_MS);
  }

  async #notifyListeners(signInId: SignInId): Promise<void> {
    const key = signInKey(signInId);
    const listeners = [...this.#listeners].filter((listener) => listener.key === key);
    await Promise.all(listeners.map((listener) => listener.notify()));
  }
}

function leaseName(signInId: SignInId): string {
  return `sign-in ${signInKey(signInId)}`;
}

function noteContext({ upstream, caller }: SignInId): readonly string[] {
  return ['note', upstream, caller];
}

/** Keeps only string members, because anyone with write access to the database could have written the note. */
function parsePlainNote(body: string): SignInNote {
  try {
    const value: unknown = JSON.parse(body);
    if (!isJsonObject(value)) return {};
    return Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'));
  } catch {
    return {};
  }
}
