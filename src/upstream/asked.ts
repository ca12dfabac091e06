import { afterwards } from '../lib/afterwards.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import { Turns } from './sharing/turns.ts';

/** What clients have asked of one server and was not answered yet, those that wait for their turn as well. */
export class Asked {
  /** Questions of the server do not say to which call they belong: with one call at a time they need not. */
  #turns: Turns | undefined;
  #count = 0;
  #over: Deferred<void> | undefined;

  run<T>(work: () => Promise<T>, cancellation: Cancellation): Promise<T> {
    const working = this.#turns === undefined ? work() : this.#turns.run(work, cancellation);
    this.#count++;
    return afterwards(working, () => {
      this.#count--;
      if (this.#count === 0) this.#over?.resolve();
    });
  }

  takeTurns(): void {
    this.#turns ??= new Turns();
  }

  /** The next may begin although the one whose turn it is has not ended. */
  release(): void {
    this.#turns?.release();
  }

  /** Resolves when nothing is waited for; nobody asks anything more by then. */
  over(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return (this.#over ??= deferred<void>()).promise;
  }
}
