import { sql } from 'kysely';

import { databaseTime } from '../core/storage/database-time.ts';
import type { Database } from '../core/storage/database.ts';
import { Ownership } from './ownership.ts';

interface OwnershipsOptions {
  /** The id of this replica. */
  readonly self: string;
  readonly database: () => Promise<Database>;
  /** Returns milliseconds of a clock that never stops or goes back, see `createSteadyClock`. */
  readonly clock: () => number;
  /** Called when the database row of a released ownership could not be deleted; the row expires later. */
  readonly onError: (error: unknown) => void;
  readonly times?: LeaseTimes;
}

export interface LeaseTimes {
  /** How long an ownership lasts in the database without a renewal. */
  readonly leaseMs: number;
  /**
   * The time without a renewal after which the owner gives up. It is shorter than `leaseMs`: in the remaining time the owner ends what it
   * runs, before another replica may start the same.
   */
  readonly surrenderMs: number;
}

/** Ending a process takes little more than three seconds, so the four seconds between these two times are enough. */
const DEFAULT_TIMES: LeaseTimes = { leaseMs: 9000, surrenderMs: 5000 };

/**
 * The result of a claim: the ownership of this replica, or the id of the current owner. The owner can be this replica itself, if it has
 * lost the ownership and the lease in the database has not expired yet.
 */
export type OwnershipClaim =
  | { readonly ownership: Ownership }
  | { readonly ownership: undefined; readonly owner: string; readonly epoch: number };

/**
 * Decides which replica owns something that runs once in the fleet. An ownership is a database row: a conditional write acquires it, and
 * its owner renews it while it is in use. The clock of the database determines when another replica can take over. Only the time at which
 * an owner gives up is measured by its own clock, and that time is always earlier.
 */
export class Ownerships {
  readonly #options: OwnershipsOptions;
  readonly #times: LeaseTimes;
  readonly #held = new Map<string, Ownership>();
  /** Pending claims by name. Concurrent callers share one claim. */
  readonly #claims = new Map<string, Promise<OwnershipClaim>>();

  constructor(options: OwnershipsOptions) {
    this.#options = options;
    this.#times = options.times ?? DEFAULT_TIMES;
  }

  /** Returns the ownership if this replica holds it now; does not query the database. */
  getHeld(name: string): Ownership | undefined {
    const ownership = this.#held.get(name);
    return ownership?.isHeld === true ? ownership : undefined;
  }

  /** Acquires the ownership if no other replica has it; otherwise returns its owner. */
  async claim(name: string): Promise<OwnershipClaim> {
    const held = this.getHeld(name);
    if (held !== undefined) return { ownership: held };
    const pendingClaim = this.#claims.get(name);
    if (pendingClaim !== undefined) return pendingClaim;
    const claim = this.#claim(name).finally(() => this.#claims.delete(name));
    this.#claims.set(name, claim);
    return claim;
  }

  /**
   * Renews all ownerships of this replica. An ownership whose lease has expired, or which another replica has taken, is lost at once. If
   * the database cannot be reached, this rejects, and each ownership is lost when its time is up.
   */
  async renew(): Promise<void> {
    const names = [...this.#held.keys()];
    if (names.length === 0) return;
    const { self, clock } = this.#options;
    const database = await this.#options.database();
    const time = databaseTime(database);
    // Read before the statement is sent, so that the owner's time starts before the lease does.
    const requestedAt = clock();
    const rows = await database.query
      .updateTable('ownerships')
      .set({ until: sql<number>`${time} + ${this.#times.leaseMs}` })
      .where('owner', '=', self)
      .where('name', 'in', names)
      .where('until', '>', time)
      .returning(['name', 'epoch'])
      .execute();
    const renewedEpochs = new Map(rows.map(({ name, epoch }) => [name, epoch]));
    for (const name of names) {
      const ownership = this.#held.get(name);
      if (ownership === undefined) continue;
      if (renewedEpochs.get(name) === ownership.epoch) ownership.extend(requestedAt);
      else ownership.lose();
    }
  }

  /** Releases all ownerships when the gateway stops. The caller must have ended what they protect. */
  async releaseAll(): Promise<void> {
    for (const ownership of this.#held.values()) ownership.lose();
    this.#held.clear();
    const database = await this.#options.database();
    await database.query.deleteFrom('ownerships').where('owner', '=', this.#options.self).execute();
  }

  async #claim(name: string): Promise<OwnershipClaim> {
    const { self, clock } = this.#options;
    const database = await this.#options.database();
    const time = databaseTime(database);
    const until = sql<number>`${time} + ${this.#times.leaseMs}`;
    const requestedAt = clock();
    const acquired = await database.query
      .insertInto('ownerships')
      // The epoch is the time of the claim. When an expired row is taken over, the epoch grows even if the
      // clock of the database was set back.
      .values({ name, owner: self, epoch: time, until })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet((column) => ({
            owner: self,
            epoch: sql<number>`case when ${column.ref('ownerships.epoch')} < ${time} then ${time} else ${column.ref('ownerships.epoch')} + 1 end`,
            until,
          }))
          .where('ownerships.until', '<', time),
      )
      .returning('epoch')
      .executeTakeFirst();
    if (acquired !== undefined) return { ownership: this.#store(name, acquired.epoch, requestedAt) };
    const row = await database.query
      .selectFrom('ownerships')
      .select(['owner', 'epoch'])
      .where('name', '=', name)
      .executeTakeFirst();
    // There is no row if the owner has released it since the first statement.
    if (row === undefined) return this.#claim(name);
    return { ownership: undefined, owner: row.owner, epoch: row.epoch };
  }

  #store(name: string, epoch: number, requestedAt: number): Ownership {
    this.#held.get(name)?.lose();
    const { clock } = this.#options;
    const ownership: Ownership = new Ownership({
      name,
      epoch,
      requestedAt,
      clock,
      surrenderMs: this.#times.surrenderMs,
      onEnd: (isLost) => {
        if (this.#held.get(name) === ownership) this.#held.delete(name);
        if (!isLost) this.#release(ownership).catch(this.#options.onError);
      },
    });
    this.#held.set(name, ownership);
    return ownership;
  }

  /** Deletes the row, unless it belongs to a later ownership. */
  async #release({ name, epoch }: Ownership): Promise<void> {
    const database = await this.#options.database();
    await database.query
      .deleteFrom('ownerships')
      .where('name', '=', name)
      .where('owner', '=', this.#options.self)
      .where('epoch', '=', epoch)
      .execute();
  }
}
