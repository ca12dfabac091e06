import { isJsonObject } from '../../../core/json.ts';
import type { Database } from '../../../core/storage/database.ts';
import { BoundedMap } from './bounded-map.ts';

/** Keeps data between the requests of one authorization, each of which may reach a different replica. */
export interface FlowStateStore<Value> {
  set(key: string, value: Value, ttlMs: number): Promise<void>;
  get(key: string): Promise<Value | undefined>;
  /** Removes and returns the value. Only one of several concurrent calls gets the value. */
  take(key: string): Promise<Value | undefined>;
}

interface FlowStateOptions {
  readonly kind: 'consent' | 'code' | 'spent';
  readonly max: number;
  readonly now: () => number;
  /** The database that the replicas share; without one, values are kept in memory. */
  readonly database?: (() => Promise<Database>) | undefined;
}

/** Opens a store. Keys must be hashes, because anyone who can read a backup of the database can read the keys. */
export function openFlowStateStore<Value>(options: FlowStateOptions): FlowStateStore<Value> {
  const { database } = options;
  return database === undefined ? openMemoryStore(options) : new SharedFlowState({ ...options, database });
}

function openMemoryStore<Value>(options: FlowStateOptions): FlowStateStore<Value> {
  const map = new BoundedMap<Value>(options);
  return {
    set: async (key, value, ttlMs) => map.set(key, value, ttlMs),
    get: async (key) => map.get(key),
    take: async (key) => map.take(key),
  };
}

class SharedFlowState<Value> implements FlowStateStore<Value> {
  readonly #options: FlowStateOptions & { readonly database: () => Promise<Database> };

  constructor(options: FlowStateOptions & { readonly database: () => Promise<Database> }) {
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
    // Anyone can begin any number of authorizations, so the values that expire first are evicted. SQLite needs a limit beside an offset.
    const evicted = query
      .selectFrom('client_steps')
      .select('id')
      .where('kind', '=', kind)
      .orderBy('expires_at', 'desc')
      .limit(1_000_000)
      .offset(max);
    await query.deleteFrom('client_steps').where('id', 'in', evicted).execute();
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
    return parseValue(row?.body);
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
    return parseValue(row?.body);
  }
}

/** Parses a stored value. Returns undefined for a row that `set` cannot have written, so that the client must repeat the step. */
function parseValue<Value>(body: string | undefined): Value | undefined {
  try {
    const value: unknown = body === undefined ? undefined : JSON.parse(body);
    return isJsonObject(value) || typeof value === 'string' ? (value as Value) : undefined;
  } catch {
    return undefined;
  }
}
