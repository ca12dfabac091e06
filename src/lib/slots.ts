import type { Cancellation } from './cancellation.ts';

/** Of the last stay in the mean. */
const WEIGHT = 0.2;

/** A number of places and a bounded queue before them. Entering is synchronous while there is room. */
export class Slots {
  #width: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;
  #meanMs: number | undefined;

  constructor(options: { readonly width: number; readonly maxWaiting: number }) {
    this.#width = options.width;
    this.#free = options.width;
    this.#maxWaiting = options.maxWaiting;
  }

  tryEnter(): boolean {
    if (this.#free <= 0) return false;
    this.#free--;
    return true;
  }

  get inUse(): number {
    return this.#width - this.#free;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Whoever is in stays, also where there are fewer places from now on. */
  resize(width: number): void {
    this.#free += width - this.#width;
    this.#width = width;
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free--;
      this.#waiting.shift()?.();
    }
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /** When there will be room in the queue, by how long those who left have stayed; undefined while nobody has. */
  get roomInMs(): number | undefined {
    return this.#meanMs === undefined
      ? undefined
      : Math.max(1, Math.ceil(this.#meanMs / Math.max(1, this.#width)));
  }

  /** Waits its turn; rejects with the reason when cancelled before. */
  enter(cancellation: Cancellation): Promise<void> {
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        cancellation.offCancel(giveUp);
        resolve();
      };
      const giveUp = (reason: Error): void => {
        const at = this.#waiting.indexOf(turn);
        if (at >= 0) this.#waiting.splice(at, 1);
        reject(reason);
      };
      this.#waiting.push(turn);
      cancellation.onCancel(giveUp);
    });
  }

  async run<T>(work: () => Promise<T>, cancellation: Cancellation): Promise<T> {
    if (!this.tryEnter()) await this.enter(cancellation);
    try {
      return await work();
    } finally {
      this.leave();
    }
  }

  /** `stayedMs` is how long the place was taken, where somebody wants to know when there is room. */
  leave(stayedMs?: number): void {
    if (stayedMs !== undefined) {
      const before = this.#meanMs ?? stayedMs;
      this.#meanMs = before + (stayedMs - before) * WEIGHT;
    }
    // Where there are fewer places than before, this one is gone.
    const next = this.#free < 0 ? undefined : this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
