import { removeOverTokens } from '../../auth/downstream/authorization-server/remove-over.ts';
import type { Logger } from '../../observe/log.ts';
import { removeOverResults } from '../../results/remove-over.ts';
import { claimChore } from '../../storage/chore.ts';
import type { Database } from '../../storage/database.ts';
import { troubleOf } from '../../storage/store-error.ts';

interface HousekeepingOptions {
  readonly database: () => Promise<Database>;
  readonly now: () => number;
  readonly log: Logger;
  readonly everyMs?: number;
}

const EVERY_MS = 60_000;

/** Removes what is over from a database that several gateways share; in each period one of them does it for all. */
export class Housekeeping implements AsyncDisposable {
  readonly #options: HousekeepingOptions;
  readonly #timer: NodeJS.Timeout;
  #running: Promise<void> = Promise.resolve();

  constructor(options: HousekeepingOptions) {
    this.#options = options;
    const { everyMs = EVERY_MS } = options;
    this.#timer = setInterval(() => {
      this.#running = this.#running.then(() => this.#tidy(everyMs));
    }, everyMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  async #tidy(everyMs: number): Promise<void> {
    const { now, log } = this.#options;
    try {
      const database = await this.#options.database();
      // A little less, so that whoever did it the last time is not too early by a moment.
      if (!(await claimChore(database, { name: 'retention', everyMs: everyMs * 0.9 }))) return;
      await database.query.transaction().execute(async (transaction) => {
        await removeOverResults(transaction, now());
        await removeOverTokens(transaction, now());
      });
    } catch (error) {
      // The next period comes; while the database is away, those who need it are told.
      if (troubleOf(error) === undefined) log.error('Tidying up failed.', { reason: String(error) });
    }
  }
}
