import { randomUUID } from 'node:crypto';

import type { AuthorizationServerConfig } from '../../../config/callers-config.ts';
import type { Database } from '../../../core/storage/database.ts';
import { generateSecret, matchesHash, parseSecret } from '../issued-secret.ts';
import type { AccessTokenCache, VerifiedAccessToken } from './access-token-cache.ts';
import { removeExpiredTokens } from './remove-expired-tokens.ts';

export const ACCESS_PREFIX = 'tla_';
const REFRESH_PREFIX = 'tlr_';

/** A person's consent that a client may act with the rights of a key. */
export interface Grant {
  readonly id: string;
  readonly client: string;
  /** The id of the key with which the person consented. */
  readonly key: string;
  /** The path that the tokens are for; empty for the whole gateway. */
  readonly resource: string;
}

export interface IssuedTokens {
  readonly access: string;
  readonly refresh: string;
  readonly expiresInSeconds: number;
}

interface GrantStoreDeps {
  readonly config: AuthorizationServerConfig;
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  readonly accessTokens: AccessTokenCache;
}

/** Stores grants and their tokens; tokens are stored as hashes. */
export class GrantStore {
  readonly #deps: GrantStoreDeps;

  constructor(deps: GrantStoreDeps) {
    this.#deps = deps;
  }

  async add(grant: Omit<Grant, 'id'>): Promise<{ readonly grant: Grant; readonly tokens: IssuedTokens }> {
    const id = randomUUID();
    const { client, key, resource } = grant;
    const { query } = await this.#deps.database();
    await query
      .insertInto('client_grants')
      .values({ id, client, key_id: key, resource, created_at: this.#deps.now() })
      .execute();
    return { grant: { ...grant, id }, tokens: await this.#issueTokens(id) };
  }

  /** Verifies an access token; synchronous if the token was verified before. */
  verifyAccessToken(
    token: string,
  ): VerifiedAccessToken | undefined | Promise<VerifiedAccessToken | undefined> {
    const secret = parseSecret(ACCESS_PREFIX, token);
    if (secret === undefined) return undefined;
    const { accessTokens } = this.#deps;
    const cached = accessTokens.find(secret);
    if (cached !== undefined) return cached;
    return accessTokens.load(secret.id, async () => {
      const row = await this.#findToken(ACCESS_PREFIX, token);
      const grant = row && (await this.#findGrant(row.grant_id));
      return row && grant && { grant, expiresAt: row.expires_at, hash: row.hash };
    });
  }

  /**
   * Exchanges a refresh token, which works once, for new tokens. A second use means that the token may have been stolen, so it revokes the
   * grant with all of its tokens.
   */
  async refresh(
    token: string,
    client: string,
  ): Promise<IssuedTokens | 'unknown' | { readonly reused: Grant }> {
    const row = await this.#findToken(REFRESH_PREFIX, token);
    const grant = row && (await this.#findGrant(row.grant_id));
    if (row === undefined || grant === undefined || grant.client !== client) return 'unknown';
    const { query } = await this.#deps.database();
    const { numUpdatedRows } = await query
      .updateTable('client_tokens')
      .set({ spent_at: this.#deps.now() })
      .where('id', '=', row.id)
      .where('spent_at', 'is', null)
      .executeTakeFirst();
    // Only the first of several concurrent uses updates the row.
    if (numUpdatedRows === 1n) return this.#issueTokens(grant.id);
    await this.removeGrant(grant.id);
    return { reused: grant };
  }

  /** Revokes the grant behind an access or refresh token of this client, with all of its tokens. */
  async revoke(token: string, client: string): Promise<void> {
    const row =
      (await this.#findToken(REFRESH_PREFIX, token)) ?? (await this.#findToken(ACCESS_PREFIX, token));
    const grant = row && (await this.#findGrant(row.grant_id));
    if (grant?.client === client) await this.removeGrant(grant.id);
  }

  async removeGrant(id: string): Promise<void> {
    const { query, changes } = await this.#deps.database();
    await query.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('client_tokens').where('grant_id', '=', id).execute();
      await transaction.deleteFrom('client_grants').where('id', '=', id).execute();
      await changes.announce(transaction, 'tokens');
    });
    this.#deps.accessTokens.removeGrant(id);
  }

  async #issueTokens(grantId: string): Promise<IssuedTokens> {
    const { config, database, now } = this.#deps;
    const { query } = await database();
    const access = generateSecret(ACCESS_PREFIX);
    const refresh = generateSecret(REFRESH_PREFIX);
    await query.transaction().execute(async (transaction) => {
      await removeExpiredTokens(transaction, now(), grantId);
      await transaction
        .insertInto('client_tokens')
        .values([
          {
            grant_id: grantId,
            spent_at: null,
            id: access.id,
            hash: access.hash,
            kind: 'access',
            expires_at: now() + config.accessTokenMs,
          },
          {
            grant_id: grantId,
            spent_at: null,
            id: refresh.id,
            hash: refresh.hash,
            kind: 'refresh',
            expires_at: now() + config.refreshTokenMs,
          },
        ])
        .execute();
    });
    return {
      access: access.text,
      refresh: refresh.text,
      expiresInSeconds: Math.floor(config.accessTokenMs / 1000),
    };
  }

  async #findToken(prefix: string, text: string) {
    const secret = parseSecret(prefix, text);
    if (secret === undefined) return undefined;
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('client_tokens')
      .selectAll()
      .where('id', '=', secret.id)
      .executeTakeFirst();
    const isValid = matchesHash(secret, row?.hash) && row !== undefined && row.expires_at > this.#deps.now();
    return isValid ? row : undefined;
  }

  async #findGrant(id: string): Promise<Grant | undefined> {
    const { query } = await this.#deps.database();
    const row = await query.selectFrom('client_grants').selectAll().where('id', '=', id).executeTakeFirst();
    return row && { id, client: row.client, key: row.key_id, resource: row.resource };
  }
}
