import type { Cancellation } from './cancellation.ts';

/** The weight of the latest duration in the moving average. */
const WEIGHT = 0.2;

/** A semaphore with a bounded queue. Entering is synchronous while a slot is free. */
export class Slots {
  #width: number;
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  /** The number of free slots; negative after a resize to fewer slots than are held. */
  #free: number;
  /** The moving average of the time for which a slot is held. */
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

  /** Changes the number of slots. Holders of slots keep them, even if there are fewer now. */
  resize(width: number): void {
    this.#free += width - this.#width;
    this.#width = width;
    while (this.#free > 0 && this.#waiting.length > 0) {
      this.#free--;
      this.#waiting.shift()?.();
    }
  }

  /** Whether the queue is full. `enter` does not check it. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
  }

  /** The estimated time until a slot is freed, which also makes room in the queue; undefined before the first `leave` with a duration. */
  get estimatedWaitMs(): number | undefined {
    return this.#meanMs === undefined
      ? undefined
      : Math.max(1, Math.ceil(this.#meanMs / Math.max(1, this.#width)));
  }

  /** Waits until another holder frees a slot; call it after `tryEnter` failed. Rejects with the reason if cancelled first. */
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

  /** Frees a slot. `heldMs` is how long it was held, for `estimatedWaitMs`. */
  leave(heldMs?: number): void {
    if (heldMs !== undefined) {
      const before = this.#meanMs ?? heldMs;
      this.#meanMs = before + (heldMs - before) * WEIGHT;
    }
    // The slot passes to the next waiter. After a resize to fewer slots, it disappears instead.
    const next = this.#free < 0 ? undefined : this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
