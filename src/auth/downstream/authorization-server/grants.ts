import { randomUUID } from 'node:crypto';

import type { AuthorizationServerConfig } from '../../../config/callers-config.ts';
import type { Database } from '../../../storage/database.ts';
import type { Recognised, RecognisedTokens } from './recognised-tokens.ts';
import { removeOverTokens } from './remove-over.ts';
import { isSameSecret, makeSecret, readSecret } from '../secret-text.ts';

export const ACCESS_PREFIX = 'tla_';
const REFRESH_PREFIX = 'tlr_';

export interface Grant {
  readonly id: string;
  readonly client: string;
  /** Id of the key of whoever agreed. */
  readonly key: string;
  /** Path that the tokens are for; empty for all of ours. */
  readonly resource: string;
}

export interface Tokens {
  readonly access: string;
  readonly refresh: string;
  readonly expiresInSeconds: number;
}

interface GrantsDeps {
  readonly config: AuthorizationServerConfig;
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  readonly recognised: RecognisedTokens;
}

/** What people agreed to, and the tokens that came of it. Tokens are stored as hashes. */
export class Grants {
  readonly #deps: GrantsDeps;

  constructor(deps: GrantsDeps) {
    this.#deps = deps;
  }

  async add(grant: Omit<Grant, 'id'>): Promise<{ readonly grant: Grant; readonly tokens: Tokens }> {
    const made = { ...grant, id: randomUUID() };
    const { query } = await this.#deps.database();
    const { id, client, key, resource } = made;
    await query
      .insertInto('client_grants')
      .values({ id, client, key_id: key, resource, created_at: this.#deps.now() })
      .execute();
    return { grant: made, tokens: await this.#issue(id) };
  }

  /** The grant behind an access token that is good now. */
  ofAccess(token: string): Recognised | undefined | Promise<Recognised | undefined> {
    const shown = readSecret(ACCESS_PREFIX, token);
    if (shown === undefined) return undefined;
    const { recognised } = this.#deps;
    const known = recognised.find(shown);
    if (known !== undefined) return known;
    return recognised.recognise(shown.id, async () => {
      const found = await this.#token(ACCESS_PREFIX, token);
      const grant = found && (await this.#grant(found.grant_id));
      return found && grant && { grant, until: found.expires_at, hash: found.hash };
    });
  }

  /**
   * The next tokens for a refresh token, which is spent by that. One that comes twice was stolen from somebody: nothing of
   * its family is good any more.
   */
  async refresh(token: string, client: string): Promise<Tokens | 'unknown' | { readonly reused: Grant }> {
    const found = await this.#token(REFRESH_PREFIX, token);
    const grant = found && (await this.#grant(found.grant_id));
    if (found === undefined || grant === undefined || grant.client !== client) return 'unknown';
    const { query } = await this.#deps.database();
    const { numUpdatedRows } = await query
      .updateTable('client_tokens')
      .set({ spent_at: this.#deps.now() })
      .where('id', '=', found.id)
      .where('spent_at', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 1n) return this.#issue(grant.id);
    await this.end(grant.id);
    return { reused: grant };
  }

  /** Gives up a token of either kind; with it goes its whole family. */
  async revoke(token: string, client: string): Promise<void> {
    const found = (await this.#token(REFRESH_PREFIX, token)) ?? (await this.#token(ACCESS_PREFIX, token));
    const grant = found && (await this.#grant(found.grant_id));
    if (grant?.client === client) await this.end(grant.id);
  }

  async end(id: string): Promise<void> {
    const { query, changes } = await this.#deps.database();
    await query.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('client_tokens').where('grant_id', '=', id).execute();
      await transaction.deleteFrom('client_grants').where('id', '=', id).execute();
      await changes.announce(transaction, 'tokens');
    });
    this.#deps.recognised.forget(id);
  }

  async #issue(grant: string): Promise<Tokens> {
    const { config, database, now } = this.#deps;
    const { query } = await database();
    const access = makeSecret(ACCESS_PREFIX);
    const refresh = makeSecret(REFRESH_PREFIX);
    const row = { grant_id: grant, spent_at: null };
    await query.transaction().execute(async (transaction) => {
      await removeOverTokens(transaction, now(), grant);
      const { id, hash } = access;
      await transaction
        .insertInto('client_tokens')
        .values([
          { ...row, id, hash, kind: 'access', expires_at: now() + config.accessTokenMs },
          {
            ...row,
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

  async #token(prefix: string, text: string) {
    const shown = readSecret(prefix, text);
    if (shown === undefined) return undefined;
    const { query } = await this.#deps.database();
    const row = await query
      .selectFrom('client_tokens')
      .selectAll()
      .where('id', '=', shown.id)
      .executeTakeFirst();
    const isGood = isSameSecret(shown, row?.hash) && row !== undefined && row.expires_at > this.#deps.now();
    return isGood ? row : undefined;
  }

  async #grant(id: string): Promise<Grant | undefined> {
    const { query } = await this.#deps.database();
    const row = await query.selectFrom('client_grants').selectAll().where('id', '=', id).executeTakeFirst();
    return row && { id, client: row.client, key: row.key_id, resource: row.resource };
  }
}
