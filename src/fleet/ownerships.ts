import { sql } from 'kysely';

import { databaseTime } from '../storage/database-time.ts';
import type { Database } from '../storage/database.ts';
import { Ownership } from './ownership.ts';

interface OwnershipsOptions {
  /** Id of this replica. */
  readonly self: string;
  readonly database: () => Promise<Database>;
  /** Steady. */
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
  readonly times?: LeaseTimes;
}

export interface LeaseTimes {
  /** How long an ownership lasts in the database without being renewed. */
  readonly leaseMs: number;
  /** When its owner takes it for lost; what remains is for ending what it owns before another one may begin. */
  readonly surrenderMs: number;
}

/** A process is ended within little more than three seconds. */
const TIMES: LeaseTimes = { leaseMs: 9000, surrenderMs: 5000 };

export type Claim =
  | { readonly ours: Ownership }
  | { readonly ours: undefined; readonly owner: string; readonly epoch: number };

/**
 * What runs once in the whole fleet has an owner, by a row that is taken by a conditional write and renewed while it is needed. All times
 * are those of the database's clock, except the one at which an owner gives up by itself, which is earlier than any other can know.
 */
export class Ownerships {
  readonly #options: OwnershipsOptions;
  readonly #times: LeaseTimes;
  readonly #ours = new Map<string, Ownership>();
  readonly #claims = new Map<string, Promise<Claim>>();

  constructor(options: OwnershipsOptions) {
    this.#options = options;
    this.#times = options.times ?? TIMES;
  }

  /** The ownership that this replica holds now, from memory. */
  held(name: string): Ownership | undefined {
    const ours = this.#ours.get(name);
    return ours?.isHeld === true ? ours : undefined;
  }

  /** Takes it where nobody else has it, else says who has. */
  async claim(name: string): Promise<Claim> {
    const held = this.held(name);
    if (held !== undefined) return { ours: held };
    const underWay = this.#claims.get(name);
    if (underWay !== undefined) return underWay;
    const claim = this.#claim(name).finally(() => this.#claims.delete(name));
    this.#claims.set(name, claim);
    return claim;
  }

  /** Those that are not ours any more are lost at once; those that could not be renewed, when their time is over. */
  async renew(): Promise<void> {
    const names = [...this.#ours.keys()];
    if (names.length === 0) return;
    const { self, clock } = this.#options;
    const database = await this.#options.database();
    const time = databaseTime(database);
    const since = clock();
    const rows = await database.query
      .updateTable('ownerships')
      .set({ until: sql<number>`${time} + ${this.#times.leaseMs}` })
      .where('owner', '=', self)
      .where('name', 'in', names)
      .where('until', '>', time)
      .returning(['name', 'epoch'])
      .execute();
    const renewed = new Map(rows.map(({ name, epoch }) => [name, epoch]));
    for (const name of names) {
      const ours = this.#ours.get(name);
      if (ours === undefined) continue;
      if (renewed.get(name) === ours.epoch) ours.renewed(since);
      else ours.lose();
    }
  }

  /** When the gateway ends; what they were for has ended before. */
  async releaseAll(): Promise<void> {
    for (const ours of this.#ours.values()) ours.lose();
    this.#ours.clear();
    const database = await this.#options.database();
    await database.query.deleteFrom('ownerships').where('owner', '=', this.#options.self).execute();
  }

  async #claim(name: string): Promise<Claim> {
    const { self, clock } = this.#options;
    const database = await this.#options.database();
    const time = databaseTime(database);
    const until = sql<number>`${time} + ${this.#times.leaseMs}`;
    const since = clock();
    const taken = await database.query
      .insertInto('ownerships')
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
    if (taken !== undefined) return { ours: this.#keep(name, taken.epoch, since) };
    const row = await database.query
      .selectFrom('ownerships')
      .select(['owner', 'epoch'])
      .where('name', '=', name)
      .executeTakeFirst();
    // It was given back a moment ago.
    return row === undefined ? this.#claim(name) : { ours: undefined, ...row };
  }

  #keep(name: string, epoch: number, since: number): Ownership {
    const before = this.#ours.get(name);
    before?.lose();
    const { clock } = this.#options;
    const ours = new Ownership({
      ...{ name, epoch, since, clock, surrenderMs: this.#times.surrenderMs },
      onOver: (isLost) => {
        if (this.#ours.get(name) === ours) this.#ours.delete(name);
        if (!isLost) this.#release(ours).catch(this.#options.onError);
      },
    });
    this.#ours.set(name, ours);
    return ours;
  }

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
