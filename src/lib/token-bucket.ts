const WHOLE = 60_000;

/** So many per minute on average, with a tenth of a minute's worth at once. */
export class TokenBucket {
  /** Tokens are counted in sixty-thousandths, which a millisecond adds a whole number of. */
  readonly #perMs: number;
  readonly #capacity: number;
  readonly #now: () => number;
  #tokens: number;
  #at: number;

  constructor(options: { readonly perMinute: number; readonly now: () => number }) {
    this.#perMs = options.perMinute;
    this.#capacity = Math.max(1, Math.ceil(options.perMinute / 10)) * WHOLE;
    this.#now = options.now;
    this.#tokens = this.#capacity;
    this.#at = options.now();
  }

  /** 0 when one was taken; else the milliseconds until there is one, and nothing was taken. */
  take(): number {
    const wait = this.peek();
    if (wait === 0) this.#tokens -= WHOLE;
    return wait;
  }

  /** The milliseconds until there is one. */
  peek(): number {
    const now = this.#now();
    // A clock that was set back gives nothing.
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
    return this.#tokens >= WHOLE ? 0 : Math.ceil((WHOLE - this.#tokens) / this.#perMs);
  }
}
