import { Crowd, NOWHERE } from './crowd.ts';
import type { Member } from './crowd.ts';

/** One time limit; moved or removed through its owner. */
export interface Deadline extends Member {
  at: number;
  expire(): void;
}

/** Many coarse time limits on one timer, since a timer of its own for every call would cost more than it is worth. */
export class Deadlines implements Disposable {
  /** The clock that `at` is told by; whoever adds a limit asks this one. */
  readonly now: () => number;
  readonly #tickMs: number;
  readonly #open = new Crowd<Deadline>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: { readonly tickMs: number; readonly now: () => number }) {
    this.#tickMs = options.tickMs;
    this.now = options.now;
  }

  add(deadline: Deadline): void {
    this.#open.add(deadline);
    this.#timer ??= setInterval(() => this.#tick(), this.#tickMs).unref();
  }

  after(ms: number, expire: () => void): Deadline {
    const deadline = { at: this.now() + ms, expire, place: NOWHERE };
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
