import { SwapRemoveSet, NOT_IN_SET } from './swap-remove-set.ts';
import type { SetMember } from './swap-remove-set.ts';

/** One deadline. `at` is a time in milliseconds by the clock of `Deadlines`; the owner may change it to move the deadline. */
export interface Deadline extends SetMember {
  at: number;
  expire(): void;
}

/** Checks many deadlines with one interval timer, which is cheaper than a timer per call. A deadline expires up to one tick late. */
export class Deadlines implements Disposable {
  /** The clock of `Deadline.at`. */
  readonly now: () => number;
  readonly #tickMs: number;
  readonly #open = new SwapRemoveSet<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { readonly tickMs: number; readonly now: () => number }) {
    this.#tickMs = options.tickMs;
    this.now = options.now;
  }

  add(deadline: Deadline): void {
    this.#open.add(deadline);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  /** Creates and adds a deadline. */
  after(ms: number, expire: () => void): Deadline {
    const deadline = { at: this.now() + ms, expire, index: NOT_IN_SET };
    this.add(deadline);
    return deadline;
  }

  remove(deadline: Deadline): void {
    this.#open.delete(deadline);
  }

  [Symbol.dispose](): void {
    this.#open.clear();
    clearInterval(this.#timer);
  }

  #tick(): void {
    const now = this.now();
    for (const deadline of this.#open) {
      if (deadline.at > now) continue;
      this.#open.delete(deadline);
      deadline.expire();
    }
    if (this.#open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
