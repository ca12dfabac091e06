import type { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import { Slots } from '../../lib/slots.ts';

/** One call at a time, for a server whose questions do not say to which call they belong: with one call they need not. */
export class Turns {
  readonly #slots = new Slots({ width: 1, maxWaiting: Infinity });
  #release: (() => void) | undefined;

  async run<T>(work: () => Promise<T>, cancellation: Cancellation): Promise<T> {
    let outcome: Promise<T> | undefined;
    await this.#slots.run(async () => {
      const released = deferred<void>();
      this.#release = () => released.resolve();
      outcome = work();
      // Its failure is told to its own caller, below.
      await Promise.race([outcome.catch(() => {}), released.promise]);
    }, cancellation);
    return outcome ?? work();
  }

  /** The next may begin although the one whose turn it is has not ended. */
  release(): void {
    this.#release?.();
  }
}
