import { sql } from 'kysely';

import { GatewayError } from '../model/errors.ts';
import { databaseTime } from '../storage/database-time.ts';
import type { Database } from '../storage/database.ts';

/** One gateway of those that share a database. */
export interface Replica {
  /** Eight letters and digits, new at each start. */
  readonly id: string;
  /** Host and port of its line. */
  readonly address: string;
  readonly version: string;
}

interface ReplicasOptions {
  readonly self: Replica;
  /** Says whether others have the same secret, and nothing else of it. */
  readonly keyCheck: string;
  readonly database: () => Promise<Database>;
}

/** One that was not seen for so long, by the clock of the database, is gone. */
const GONE_AFTER_MS = 6000;
const FORGOTTEN_AFTER_MS = 60_000;

/** Which gateways there are. Known from memory; a beat tells the others that we live, and looks who else does. */
export class Replicas {
  readonly self: Replica;
  readonly #options: ReplicasOptions;
  readonly #listeners = new Set<() => void>();
  #others: ReadonlyMap<string, Replica> = new Map();

  constructor(options: ReplicasOptions) {
    this.self = options.self;
    this.#options = options;
  }

  /** Those that live, without this one; while the database is away, those that did before. */
  others(): readonly Replica[] {
    return [...this.#others.values()];
  }

  find(id: string): Replica | undefined {
    return id === this.self.id ? this.self : this.#others.get(id);
  }

  /** Told when one came or went. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Becomes one of them; throws where those that live have another key. */
  async join(): Promise<void> {
    const { keyCheck } = this.#options;
    const database = await this.#options.database();
    await database.query.transaction().execute(async (transaction) => {
      const time = databaseTime(database);
      await transaction
        .deleteFrom('replicas')
        .where('seen_at', '<', sql<number>`${time} - ${FORGOTTEN_AFTER_MS}`)
        .execute();
      const strange = await transaction
        .selectFrom('replicas')
        .select('address')
        .where('key_check', '!=', keyCheck)
        .where('seen_at', '>', sql<number>`${time} - ${GONE_AFTER_MS}`)
        .executeTakeFirst();
      if (strange !== undefined) throw anotherKey(strange.address);
      await this.#write(database, transaction);
      await database.changes.announce(transaction, 'replicas');
    });
    await this.look();
  }

  /** Tells that we live, and looks who else does. */
  async beat(): Promise<void> {
    const database = await this.#options.database();
    await this.#write(database, database.query);
    await this.look();
  }

  async look(): Promise<void> {
    const { keyCheck } = this.#options;
    const database = await this.#options.database();
    const rows = await database.query
      .selectFrom('replicas')
      .select(['id', 'address', 'version'])
      .where('seen_at', '>', sql<number>`${databaseTime(database)} - ${GONE_AFTER_MS}`)
      .where('key_check', '=', keyCheck)
      .execute();
    const others = rows.filter(({ id }) => id !== this.self.id);
    const before = this.#others;
    this.#others = new Map(others.map((one) => [one.id, one]));
    const isSame = before.size === others.length && others.every(({ id }) => before.has(id));
    if (!isSame) for (const listener of [...this.#listeners]) listener();
  }

  async leave(): Promise<void> {
    const database = await this.#options.database();
    await database.query.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('replicas').where('id', '=', this.self.id).execute();
      await database.changes.announce(transaction, 'replicas');
    });
  }

  async #write(database: Database, query: Database['query']): Promise<void> {
    const seen = databaseTime(database);
    await query
      .insertInto('replicas')
      .values({ ...this.self, key_check: this.#options.keyCheck, seen_at: seen })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: seen }))
      .execute();
  }
}

function anotherKey(address: string): GatewayError {
  const text =
    `The gateway at ${address} on the same database has another key, so this one does not join it: servers with share "fleet" are not available here, and sessions and ` +
    'sign-ins of one are nothing to the other. Give all of them the same storage.key (or the same secret.key in their state folders) and start this one again.';
  return new GatewayError('CONFIG_INVALID', text, { details: { address } });
}
