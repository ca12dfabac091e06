const WHOLE = 60_000;

/** So many per minute on average, with a tenth of a minute's worth at once. Who waits for one has it already, so that those who come later wait longer. */
export class TokenBucket {
  /** Tokens are counted in sixty-thousandths, which a millisecond adds a whole number of. */
  #perMs: number;
  #capacity: number;
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

  /** Takes one, also where it is still to come: the milliseconds until then. */
  take(): number {
    const wait = this.peek();
    this.#tokens -= WHOLE;
    return wait;
  }

  /** Somebody did not wait for the one that was taken. */
  giveBack(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + WHOLE);
  }

  /** The milliseconds until there is one for whoever comes next. */
  peek(): number {
    const now = this.#now();
    // A clock that was set back gives nothing.
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
    // Without any rate it is never.
    return this.#tokens >= WHOLE ? 0 : Math.ceil((WHOLE - this.#tokens) / this.#perMs);
  }

  /** So many per minute from now on; what was saved up stays as far as there is room for it. */
  adjust(perMinute: number): void {
    this.peek();
    this.#perMs = perMinute;
    this.#capacity = perMinute === 0 ? 0 : Math.max(1, Math.floor(perMinute / 10)) * WHOLE;
    this.#tokens = Math.min(this.#tokens, this.#capacity);
  }
}
