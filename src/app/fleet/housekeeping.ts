import { removeExpiredTokens } from '../../auth/downstream/authorization-server/remove-expired-tokens.ts';
import type { Logger } from '../../observability/log.ts';
import { removeExpiredResults } from '../../exposure/results/remove-expired-results.ts';
import { claimChore } from '../../core/storage/chore.ts';
import type { Database } from '../../core/storage/database.ts';
import { storeProblemOf } from '../../core/storage/store-error.ts';

interface HousekeepingOptions {
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  readonly log: Logger;
  readonly everyMs?: number;
}

/** Interval at which expired rows are removed. */
const EVERY_MS = 60_000;

/** Removes expired rows from a database that several gateways share. In each period, one of the gateways does this for all of them. */
export class Housekeeping implements AsyncDisposable {
  readonly #options: HousekeepingOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    const { everyMs = EVERY_MS } = options;
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#removeExpired(everyMs));
    }, everyMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #removeExpired(everyMs: number): Promise<void> {
    const { now, log } = this.#options;
    try {
      const database = await this.#options.database();
      // The period is shorter than the interval, because otherwise the timer of the process that ran last could fire a few milliseconds
      // before the period ends.
      if (!(await claimChore(database, { name: 'retention', everyMs: everyMs * 0.9 }))) return;
      await database.query.transaction().execute(async (transaction) => {
        await removeExpiredResults(transaction, now());
        await removeExpiredTokens(transaction, now());
      });
    } catch (error) {
      // The next period tries again. An unreachable database is reported by the requests that need it.
      if (storeProblemOf(error) === undefined)
        log.error('Expired rows could not be removed from the database.', { reason: String(error) });
    }
  }
}
