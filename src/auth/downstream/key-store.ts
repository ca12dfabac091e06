import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Tier } from '../../core/tier.ts';
import type { Logger } from '../../observability/log.ts';
import { generateSecret } from './issued-secret.ts';

/** The permissions of a caller with a key. */
export interface KeyRights {
  /** If absent, the caller is not bound to a profile. */
  readonly profile?: string | undefined;
  readonly tier?: Tier | undefined;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
}

export interface StoredKey extends KeyRights {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly createdAt: number;
  readonly expiresAt?: number | undefined;
  readonly usedAt?: number | undefined;
}

export const KEY_PREFIX = 'tl_';

/** Returns the caller id of a key. The prefix distinguishes it from callers of other providers and from the local caller. */
export function keyCallerId({ name }: Pick<StoredKey, 'name'>): string {
  return `key:${name}`;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;
const HASH = /^[0-9a-f]{64}$/;
const MAX_KEYS = 10_000;

/** Stores the keys of callers in the database, as hashes only. */
export class KeyStore {
  readonly #database: () => Promise<Database>;
  readonly #now: () => number;
  readonly #log: Logger;
  /** Number of rows that the last `list` ignored; only a change is logged. */
  #invalidCount = 0;

  constructor(options: {
    readonly database: () => Promise<Database>;
    readonly now: () => number;
    readonly log: Logger;
  }) {
    this.#database = options.database;
    this.#now = options.now;
    this.#log = options.log;
  }

  /** Creates a key. The result is the only place that ever contains its text. */
  async add(
    name: string,
    rights: KeyRights & { readonly expiresAt?: number | undefined },
  ): Promise<{ readonly text: string; readonly key: StoredKey }> {
    if (!NAME.test(name))
      throw new GatewayError(
        'USAGE',
        `"${name.slice(0, 80)}" cannot be the name of a key. Use 1 to 64 letters, digits, dots, hyphens, underscores or @.`,
      );
    const { query, changes } = await this.#database();
    const { text, id, hash } = generateSecret(KEY_PREFIX);
    const { expiresAt, ...body } = rights;
    const createdAt = this.#now();
    await query.transaction().execute(async (transaction) => {
      const rows = await transaction.selectFrom('caller_keys').select(['name', 'expires_at']).execute();
      const existing = rows.find((row) => row.name === name);
      const isExpired =
        existing !== undefined && existing.expires_at !== null && existing.expires_at <= createdAt;
      if (existing !== undefined && !isExpired)
        throw new GatewayError(
          'USAGE',
          `There is a key "${name}" already. Run \`trunkline keys revoke ${quoteShellWord(name)}\` first, or choose another name.`,
        );
      if (rows.length >= MAX_KEYS)
        throw new GatewayError(
          'USAGE',
          `There are ${MAX_KEYS} keys already. Revoke one with \`trunkline keys revoke NAME\`.`,
        );
      if (isExpired) await transaction.deleteFrom('caller_keys').where('name', '=', name).execute();
      await transaction
        .insertInto('caller_keys')
        .values({
          id,
          name,
          hash,
          created_at: createdAt,
          used_at: null,
          body: JSON.stringify(body),
          expires_at: expiresAt ?? null,
        })
        .execute();
      await changes.announce(transaction, 'keys');
    });
    return { text, key: { id, name, hash, createdAt, ...rights } };
  }

  async list(): Promise<readonly StoredKey[]> {
    const { query } = await this.#database();
    const rows = await query.selectFrom('caller_keys').selectAll().orderBy('name').execute();
    const keys = rows.flatMap(({ id, name, hash, body, created_at, expires_at, used_at }) => {
      const rights = NAME.test(name) && HASH.test(hash) ? parseRights(body) : undefined;
      if (rights === undefined) return [];
      return [
        {
          ...rights,
          id,
          name,
          hash,
          createdAt: created_at,
          expiresAt: expires_at ?? undefined,
          usedAt: used_at ?? undefined,
        },
      ];
    });
    this.#reportInvalid(rows.length - keys.length);
    return keys;
  }

  /** Deletes a key with the grants and tokens that depend on it; returns undefined if there is no such key. */
  async revoke(name: string): Promise<StoredKey | undefined> {
    const key = (await this.list()).find((candidate) => candidate.name === name);
    if (key === undefined) return undefined;
    const { query, changes } = await this.#database();
    await query.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('caller_keys').where('id', '=', key.id).execute();
      const grants = transaction.selectFrom('client_grants').select('id').where('key_id', '=', key.id);
      await transaction.deleteFrom('client_tokens').where('grant_id', 'in', grants).execute();
      await transaction.deleteFrom('client_grants').where('key_id', '=', key.id).execute();
      await changes.announce(transaction, 'keys');
    });
    return key;
  }

  async saveLastUsed(times: ReadonlyMap<string, number>): Promise<void> {
    const { query } = await this.#database();
    for (const [id, usedAt] of times)
      await query.updateTable('caller_keys').set({ used_at: usedAt }).where('id', '=', id).execute();
  }

  #reportInvalid(count: number): void {
    if (count > 0 && count !== this.#invalidCount)
      this.#log.warn('The database contains API keys that Trunkline did not write; they are not accepted.', {
        count,
      });
    this.#invalidCount = count;
  }
}

/** Parses the rights of a key; ignores unknown members. Returns undefined for rights that `add` cannot have written. */
function parseRights(body: string): KeyRights | undefined {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { profile, tier, groups, roles } = value;
  if (!isTexts(groups) || !isTexts(roles)) return undefined;
  if (profile !== undefined && typeof profile !== 'string') return undefined;
  if (tier !== undefined && !isTier(tier)) return undefined;
  return { groups, roles, profile, tier };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

function isTier(value: unknown): value is Tier {
  return value === 'read' || value === 'write' || value === 'destructive';
}
