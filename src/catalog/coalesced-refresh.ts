import { Cancellation, rejectOnCancel } from '../core/lib/cancellation.ts';

interface RefreshRun {
  readonly cancellation: Cancellation;
  done: Promise<void>;
  /** The number of requests that wait for this run. */
  waiters: number;
}

/**
 * Coalesces refresh requests: there is one run at a time, and all requests during a run share one further run. A cancelled
 * request stops waiting; a run without waiting requests is cancelled.
 */
export class CoalescedRefresh {
  readonly #work: (cancellation: Cancellation) => Promise<void>;
  #running: RefreshRun | undefined;
  #next: RefreshRun | undefined;

  constructor(work: (cancellation: Cancellation) => Promise<void>) {
    this.#work = work;
  }

  async request(cancellation: Cancellation): Promise<void> {
    cancellation.throwIfCancelled();
    const run = this.#join();
    run.waiters++;
    const leave = (reason: Error): void => {
      run.waiters--;
      if (run.waiters === 0) run.cancellation.cancel(reason);
    };
    cancellation.onCancel(leave);
    try {
      await rejectOnCancel(run.done, cancellation);
    } finally {
      cancellation.offCancel(leave);
    }
  }

  /** Cancels the current and the next run, and resolves once both have ended. */
  async stop(reason: Error): Promise<void> {
    const runs = [this.#running, this.#next].filter((run) => run !== undefined);
    for (const run of runs) run.cancellation.cancel(reason);
    await Promise.allSettled(runs.map((run) => run.done));
  }

  #join(): RefreshRun {
    // A request must not join the current run, which may have read the list before the change that caused the
    // request. Nor may it join a cancelled run, which rejects.
    if (this.#next !== undefined && this.#next.cancellation.reason === undefined) return this.#next;
    if (this.#running === undefined) {
      this.#running = this.#startRun(undefined);
      return this.#running;
    }
    this.#next = this.#startRun(this.#running);
    return this.#next;
  }

  #startRun(after: RefreshRun | undefined): RefreshRun {
    const cancellation = new Cancellation();
    const run: RefreshRun = { cancellation, waiters: 0, done: Promise.resolve() };
    const begin = async (): Promise<void> => {
      if (after !== undefined) await after.done.catch(() => {}); // The waiters of that run receive the error.
      if (this.#next === run) this.#next = undefined;
      cancellation.throwIfCancelled();
      this.#running = run;
      await rejectOnCancel(this.#work(cancellation), cancellation);
    };
    run.done = begin().finally(() => {
      if (this.#running === run) this.#running = undefined;
    });
    run.done.catch(() => {}); // The waiters receive the error, but there may be none left.
    return run;
  }
}
