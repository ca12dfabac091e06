import type { Database } from '../../../storage/database.ts';
import { BoundedMap } from './bounded-map.ts';

/** What is remembered between two requests of one authorization, each of which may come to another gateway. */
export interface Steps<Value> {
  set(key: string, value: Value, ttlMs: number): Promise<void>;
  get(key: string): Promise<Value | undefined>;
  /** Whoever takes it is the only one. */
  take(key: string): Promise<Value | undefined>;
}

interface StepsOptions {
  readonly kind: 'consent' | 'code' | 'spent';
  readonly max: number;
  readonly now: () => number;
  /** Where other gateways look for it, too; without one it is kept in memory. */
  readonly database?: (() => Promise<Database>) | undefined;
}

/** In the database keys are seen by whoever reads backups, so that they are to be hashes. */
export function openSteps<Value>(options: StepsOptions): Steps<Value> {
  const { database } = options;
  return database === undefined ? memorySteps(options) : new SharedSteps({ ...options, database });
}

function memorySteps<Value>(options: StepsOptions): Steps<Value> {
  const map = new BoundedMap<Value>(options);
  return {
    set: async (key, value, ttlMs) => map.set(key, value, ttlMs),
    get: async (key) => map.get(key),
    take: async (key) => map.take(key),
  };
}

class SharedSteps<Value> implements Steps<Value> {
  readonly #options: StepsOptions & { readonly database: () => Promise<Database> };

  constructor(options: StepsOptions & { readonly database: () => Promise<Database> }) {
    this.#options = options;
  }

  async set(id: string, value: Value, ttlMs: number): Promise<void> {
    const { kind, max, now } = this.#options;
    const { query } = await this.#options.database();
    const [body, expires_at] = [JSON.stringify(value), now() + ttlMs];
    await query.deleteFrom('client_steps').where('expires_at', '<=', now()).execute();
    await query
      .insertInto('client_steps')
      .values({ id, kind, body, expires_at })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ body, expires_at }))
      .execute();
    // The oldest make room when there are too many, since strangers can begin as often as they like.
    const tooMany = query
      .selectFrom('client_steps')
      .select('id')
      .where('kind', '=', kind)
      .orderBy('expires_at', 'desc')
      .limit(1_000_000)
      .offset(max);
    await query.deleteFrom('client_steps').where('id', 'in', tooMany).execute();
  }

  async get(id: string): Promise<Value | undefined> {
    const { kind, now } = this.#options;
    const { query } = await this.#options.database();
    const row = await query
      .selectFrom('client_steps')
      .select('body')
      .where('id', '=', id)
      .where('kind', '=', kind)
      .where('expires_at', '>', now())
      .executeTakeFirst();
    return row && (JSON.parse(row.body) as Value); // Our own writing.
  }

  async take(id: string): Promise<Value | undefined> {
    const { kind, now } = this.#options;
    const { query } = await this.#options.database();
    const row = await query
      .deleteFrom('client_steps')
      .where('id', '=', id)
      .where('kind', '=', kind)
      .where('expires_at', '>', now())
      .returning('body')
      .executeTakeFirst();
    return row && (JSON.parse(row.body) as Value); // As above.
  }
}
