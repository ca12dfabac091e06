import { Cancellation, orCancelled } from '../lib/cancellation.ts';

interface Run {
  readonly cancellation: Cancellation;
  done: Promise<void>;
  waiting: number;
}

/**
 * Shares one piece of work among all who ask: one run at a time, and requests during a run become exactly one further
 * run. A request that is cancelled stops waiting; a run for which nobody waits any more is cancelled itself.
 */
export class Refresh {
  readonly #work: (cancellation: Cancellation) => Promise<void>;
  #running: Run | undefined;
  #next: Run | undefined;

  constructor(work: (cancellation: Cancellation) => Promise<void>) {
    this.#work = work;
  }

  async request(cancellation: Cancellation): Promise<void> {
    cancellation.throwIfCancelled();
    const run = this.#join();
    run.waiting++;
    const leave = (reason: Error): void => {
      run.waiting--;
      if (run.waiting === 0) run.cancellation.cancel(reason);
    };
    cancellation.onCancel(leave);
    try {
      await orCancelled(run.done, cancellation);
    } finally {
      cancellation.offCancel(leave);
    }
  }

  /** Ends what is under way and what is asked for. */
  async stop(reason: Error): Promise<void> {
    const runs = [this.#running, this.#next].filter((run) => run !== undefined);
    for (const run of runs) run.cancellation.cancel(reason);
    await Promise.allSettled(runs.map((run) => run.done));
  }

  #join(): Run {
    // A cancelled run fails for those who wait for it; whoever comes now gets another.
    if (this.#next !== undefined && this.#next.cancellation.reason === undefined) return this.#next;
    if (this.#running === undefined) {
      this.#running = this.#run(undefined);
      return this.#running;
    }
    this.#next = this.#run(this.#running);
    return this.#next;
  }

  #run(after: Run | undefined): Run {
    const cancellation = new Cancellation();
    const run: Run = { cancellation, waiting: 0, done: Promise.resolve() };
    const begin = async (): Promise<void> => {
      if (after !== undefined) await after.done.catch(() => {}); // Who waited for it was told.
      if (this.#next === run) this.#next = undefined;
      cancellation.throwIfCancelled();
      this.#running = run;
      await orCancelled(this.#work(cancellation), cancellation);
    };
    run.done = begin().finally(() => {
      if (this.#running === run) this.#running = undefined;
    });
    run.done.catch(() => {}); // Those who wait get the reason; there may be none left.
    return run;
  }
}
