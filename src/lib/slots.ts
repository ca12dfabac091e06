import type { Cancellation } from './cancellation.ts';

/** A number of places and a bounded queue before them. Entering is synchronous while there is room. */
export class Slots {
  readonly #maxWaiting: number;
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(options: { readonly width: number; readonly maxWaiting: number }) {
    this.#free = options.width;
    this.#maxWaiting = options.maxWaiting;
  }

  tryEnter(): boolean {
    if (this.#free === 0) return false;
    this.#free--;
    return true;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#maxWaiting;
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

  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free++;
    else next();
  }
}
