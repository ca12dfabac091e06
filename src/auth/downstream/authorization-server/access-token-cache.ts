import type { Database } from '../../../core/storage/database.ts';
import type { Logger } from '../../../observability/log.ts';
import { matchesHash } from '../issued-secret.ts';
import type { IssuedSecret } from '../issued-secret.ts';
import type { Grant } from './grant-store.ts';

export interface VerifiedAccessToken {
  readonly hash: string;
  readonly grant: Grant;
  readonly expiresAt: number;
}

interface AccessTokenCacheDeps {
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  readonly log: Logger;
}

const MAX_TOKENS = 20_000;
const IDS_PER_QUERY = 500;
/** Delay before revoked tokens are read again after a failure. */
const RETRY_MS = 2000;

/** Caches verified access tokens, so that later requests need no query. Drops the tokens that any replica revokes. */
export class AccessTokenCache implements AsyncDisposable {
  readonly #deps: AccessTokenCacheDeps;
  readonly #tokens = new Map<string, VerifiedAccessToken>();
  #subscription: Disposable | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  /** Changes whenever a token is revoked. */
  #revision = 0;

  private constructor(deps: AccessTokenCacheDeps) {
    this.#deps = deps;
  }

  static async open(deps: AccessTokenCacheDeps): Promise<AccessTokenCache> {
    const cache = new AccessTokenCache(deps);
    const { changes } = await deps.database();
    cache.#subscription = changes.on('tokens', () => void cache.#removeRevoked());
    return cache;
  }

  find(secret: IssuedSecret): VerifiedAccessToken | undefined {
    const token = this.#tokens.get(secret.id);
    if (token === undefined || !matchesHash(secret, token.hash)) return undefined;
    if (token.expiresAt > this.#deps.now()) return token;
    this.#tokens.delete(secret.id);
    return undefined;
  }

  /** Reads a token from the database. Does not cache it if any token was revoked during the read, because that may be this token. */
  async load(
    id: string,
    read: () => Promise<VerifiedAccessToken | undefined>,
  ): Promise<VerifiedAccessToken | undefined> {
    const revision = this.#revision;
    const token = await read();
    if (token === undefined || revision !== this.#revision) return token;
    this.#tokens.set(id, token);
    // An evicted token is read again when it is used again.
    if (this.#tokens.size > MAX_TOKENS) this.#tokens.delete(this.#tokens.keys().next().value as string); // The map is not empty.
    return token;
  }

  /** Removes all tokens of a grant. */
  removeGrant(grantId: string): void {
    this.#revision++;
    for (const [id, token] of this.#tokens) if (token.grant.id === grantId) this.#tokens.delete(id);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscription?.[Symbol.dispose]();
    this.#subscription = undefined;
    clearTimeout(this.#retryTimer);
  }

  /** Removes the tokens that are no longer in the database, because another replica revoked them. */
  async #removeRevoked(): Promise<void> {
    this.#revision++;
    try {
      const { query } = await this.#deps.database();
      const cachedIds = [...this.#tokens.keys()];
      for (let start = 0; start < cachedIds.length; start += IDS_PER_QUERY) {
        const ids = cachedIds.slice(start, start + IDS_PER_QUERY);
        const rows = await query.selectFrom('client_tokens').select('id').where('id', 'in', ids).execute();
        const stored = new Set(rows.map(({ id }) => id));
        for (const id of ids) if (!stored.has(id)) this.#tokens.delete(id);
      }
    } catch (error) {
      this.#deps.log.warn('Revoked tokens cannot be read now; retrying.', { reason: String(error) });
      clearTimeout(this.#retryTimer);
      if (this.#subscription !== undefined)
        this.#retryTimer = setTimeout(() => void this.#removeRevoked(), RETRY_MS).unref();
    }
  }
}
