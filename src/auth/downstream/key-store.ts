import type { Tier } from '../../model/tier.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Database } from '../../storage/database.ts';
import { makeSecret } from './secret-text.ts';

/** What a key lets its caller do. */
export interface KeyRights {
  /** Absent: the caller is bound to none. */
  readonly profile?: string;
  readonly tier?: Tier;
  readonly groups: readonly string[];
  readonly roles: readonly string[];
}

export interface StoredKey extends KeyRights {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
  readonly usedAt?: number;
}

export const KEY_PREFIX = 'tl_';

/** The word before the colon keeps callers of different providers apart, and from the person at this machine. */
export function callerId({ name }: Pick<StoredKey, 'name'>): string {
  return `key:${name}`;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$/;
const MAX_KEYS = 10_000;

/** The keys of callers in the database, of which it has only hashes. */
export class KeyStore {
  readonly #database: () => Promise<Database>;
  readonly #now: () => number;

  constructor(options: { readonly database: () => Promise<Database>; readonly now: () => number }) {
    this.#database = options.database;
    this.#now = options.now;
  }

  /** The key itself is in the answer, and nowhere else ever again. */
  async add(
    name: string,
    rights: KeyRights & { readonly expiresAt?: number },
  ): Promise<{ readonly text: string; readonly key: StoredKey }> {
    if (!NAME.test(name))
      throw new GatewayError(
        'USAGE',
        `"${name.slice(0, 80)}" cannot be the name of a key: 1 to 64 letters, digits, dots, hyphens, underscores or @.`,
      );
    const { query, changes } = await this.#database();
    const { text, id, hash } = makeSecret(KEY_PREFIX);
    const { expiresAt, ...body } = rights;
    const createdAt = this.#now();
    await query.transaction().execute(async (transaction) => {
      const all = await transaction.selectFrom('caller_keys').select(['name', 'expires_at']).execute();
      const same = all.find((row) => row.name === name);
      const isOver = same !== undefined && same.expires_at !== null && same.expires_at <= createdAt;
      if (same !== undefined && !isOver)
        throw new GatewayError(
          'USAGE',
          `There is a key "${name}" already; run \`trunkline keys revoke ${name}\` first, or choose another name.`,
        );
      if (all.length >= MAX_KEYS)
        throw new GatewayError('USAGE', `There are ${MAX_KEYS} keys already; revoke some.`);
      if (isOver) await transaction.deleteFrom('caller_keys').where('name', '=', name).execute();
      await transaction
        .insertInto('caller_keys')
        .values({
          ...{ id, name, hash, created_at: createdAt, used_at: null },
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
    return rows.map(({ id, name, hash, body, created_at, expires_at, used_at }) => ({
      ...{ id, name, hash, createdAt: created_at },
      // Our own writing.
      ...(JSON.parse(body) as KeyRights),
      ...(expires_at !== null && { expiresAt: expires_at }),
      ...(used_at !== null && { usedAt: used_at }),
    }));
  }

  /** With it goes what was given out on its strength. Undefined when there is none. */
  async revoke(name: string): Promise<StoredKey | undefined> {
    const key = (await this.list()).find((one) => one.name === name);
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

  async used(times: ReadonlyMap<string, number>): Promise<void> {
    const { query } = await this.#database();
    for (const [id, at] of times)
      await query.updateTable('caller_keys').set({ used_at: at }).where('id', '=', id).execute();
  }
}
