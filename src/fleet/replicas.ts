import { sql } from 'kysely';

import { GatewayError } from '../core/errors.ts';
import { databaseTime } from '../core/storage/database-time.ts';
import type { Database } from '../core/storage/database.ts';
import type { Logger } from '../observability/log.ts';

/** One of the gateways that share a database. */
export interface Replica {
  /** Eight letters and digits, generated at each start. */
  readonly id: string;
  /** The host and port at which it listens for other replicas. */
  readonly address: string;
  readonly version: string;
}

interface ReplicasOptions {
  readonly self: Replica;
  /** A value derived from the secret. Replicas compare it to find out whether they have the same secret; it reveals nothing else. */
  readonly keyCheck: string;
  readonly database: () => Promise<Database>;
  readonly log: Logger;
}

/** A replica counts as gone after this time without a heartbeat, by the clock of the database. */
const GONE_AFTER_MS = 6000;
/** A joining replica deletes rows that are older than this. */
const DELETED_AFTER_MS = 60_000;
/** The maximum number of other replicas. It equals the number of connections that `listenForReplicas` accepts. */
const MAX_OTHERS = 256;
const MAX_ADDRESS_LENGTH = 300;
/** Rows that do not match these patterns were not written by a gateway. */
const ID = /^[\w-]{1,64}$/;
const ADDRESS = /^[\w.:[\]%-]+:(\d{1,5})$/;

/** Tracks the running replicas in memory. Each heartbeat updates the row of this replica and reads the rows of the others. */
export class Replicas {
  readonly self: Replica;
  readonly #options: ReplicasOptions;
  readonly #listeners = new Set<() => void>();
  #others: ReadonlyMap<string, Replica> = new Map();
  /** The number of rows that the last refresh ignored. A warning is logged only when this number changes. */
  #invalidCount = 0;

  constructor(options: ReplicasOptions) {
    this.self = options.self;
    this.#options = options;
  }

  /** Returns the running replicas without this one. While the database is unreachable, the list stays as it was before. */
  others(): readonly Replica[] {
    return [...this.#others.values()];
  }

  /** Returns a running replica, which may be this one. */
  find(id: string): Replica | undefined {
    return id === this.self.id ? this.self : this.#others.get(id);
  }

  /** Calls the listener when a replica has joined or left. */
  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Joins the fleet, and deletes the rows of replicas that are long gone. Rejects if a running replica has another key. */
  async join(): Promise<void> {
    const { keyCheck } = this.#options;
    const database = await this.#options.database();
    await database.query.transaction().execute(async (transaction) => {
      const time = databaseTime(database);
      await transaction
        .deleteFrom('replicas')
        .where('seen_at', '<', sql<number>`${time} - ${DELETED_AFTER_MS}`)
        .execute();
      const otherKey = await transaction
        .selectFrom('replicas')
        .select(sql<string>`substr(address, 1, ${sql.lit(MAX_ADDRESS_LENGTH)})`.as('address'))
        .where('key_check', '!=', keyCheck)
        .where('seen_at', '>', sql<number>`${time} - ${GONE_AFTER_MS}`)
        .executeTakeFirst();
      if (otherKey !== undefined) throw differentKeyError(otherKey.address);
      await this.#writeHeartbeat(database, transaction);
      await database.changes.announce(transaction, 'replicas');
    });
    await this.refresh();
  }

  /** Updates the row of this replica and reads the rows of the others. */
  async beat(): Promise<void> {
    const database = await this.#options.database();
    await this.#writeHeartbeat(database, database.query);
    await this.refresh();
  }

  /** Reads the rows of the other replicas, and notifies the listeners if a replica has joined or left. */
  async refresh(): Promise<void> {
    const { keyCheck } = this.#options;
    const database = await this.#options.database();
    const time = databaseTime(database);
    const rows = await database.query
      .selectFrom('replicas')
      .select(sql<string>`substr(id, 1, 100)`.as('id'))
      .select(sql<string>`substr(version, 1, 100)`.as('version'))
      // Texts are cut, so that a row which an attacker has written cannot fill the memory of this process.
      .select(sql<string>`substr(address, 1, ${sql.lit(MAX_ADDRESS_LENGTH)})`.as('address'))
      .where('seen_at', '>', sql<number>`${time} - ${GONE_AFTER_MS}`)
      // The database itself sets these times, so a row from the future was not written by a gateway.
      .where('seen_at', '<', sql<number>`${time} + ${GONE_AFTER_MS}`)
      .where('key_check', '=', keyCheck)
      .where('id', '!=', this.self.id)
      .orderBy('id')
      // Some of the rows may be invalid, so more rows are read than are used.
      .limit(2 * MAX_OTHERS)
      .execute();
    const others = rows
      .filter(isValidReplica)
      .slice(0, MAX_OTHERS)
      .map(({ id, address, version }) => ({ id, address, version }));
    this.#reportInvalid(rows.length - others.length);
    const previous = this.#others;
    this.#others = new Map(others.map((replica) => [replica.id, replica]));
    const isSame = previous.size === others.length && others.every(({ id }) => previous.has(id));
    if (!isSame) for (const listener of [...this.#listeners]) listener();
  }

  /** Deletes the row of this replica, so that the others notice at once that it is gone. */
  async leave(): Promise<void> {
    const database = await this.#options.database();
    await database.query.transaction().execute(async (transaction) => {
      await transaction.deleteFrom('replicas').where('id', '=', this.self.id).execute();
      await database.changes.announce(transaction, 'replicas');
    });
  }

  #reportInvalid(count: number): void {
    if (count > 0 && count !== this.#invalidCount)
      this.#options.log.warn(
        'Ignored rows of the table "replicas": they are invalid, or there are too many.',
        { count },
      );
    this.#invalidCount = count;
  }

  async #writeHeartbeat(database: Database, query: Database['query']): Promise<void> {
    const now = databaseTime(database);
    await query
      .insertInto('replicas')
      .values({ ...this.self, key_check: this.#options.keyCheck, seen_at: now })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: now }))
      .execute();
  }
}

function isValidReplica({ id, address, version }: Replica): boolean {
  return ID.test(id) && isValidAddress(address) && version.length <= 64;
}

/** Returns false for an address of the maximum length, because the query may have cut it. */
function isValidAddress(address: string): boolean {
  const [, port] = address.length < MAX_ADDRESS_LENGTH ? (ADDRESS.exec(address) ?? []) : [];
  return port !== undefined && Number(port) > 0 && Number(port) < 65_536;
}

function differentKeyError(storedAddress: string): GatewayError {
  const address = isValidAddress(storedAddress) ? storedAddress : 'an unreadable address';
  const text =
    `The gateway at ${address} uses the same database with another key, so this gateway does not join the fleet. Servers with share "fleet" are not available here, and the gateways ` +
    'cannot use the sessions and sign-ins of each other. Set the same storage.key on all gateways (or copy secret.key to all state folders) and restart this one.';
  return new GatewayError('CONFIG_INVALID', text, { details: { address } });
}
