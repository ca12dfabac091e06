/** The units of one token. With 60,000 units per token, a rate of n per minute adds exactly n units per millisecond. */
const UNITS_PER_TOKEN = 60_000;

/**
 * A rate limit that allows a burst of a tenth of the calls of one minute. A caller that has to wait takes its token in advance, so the
 * tokens can be negative and later callers wait longer.
 */
export class TokenBucket {
  // All amounts are in units; see `UNITS_PER_TOKEN`.
  #perMs: number;
  #capacity: number;
  readonly #now: () => number;
  #tokens: number;
  /** The time of the last refill. */
  #at: number;

  constructor(options: { readonly perMinute: number; readonly now: () => number }) {
    this.#perMs = options.perMinute;
    this.#capacity = Math.max(1, Math.ceil(options.perMinute / 10)) * UNITS_PER_TOKEN;
    this.#now = options.now;
    this.#tokens = this.#capacity;
    this.#at = options.now();
  }

  /** Takes a token, perhaps a future one, and returns the milliseconds until it is available. */
  take(): number {
    const wait = this.peek();
    this.#tokens -= UNITS_PER_TOKEN;
    return wait;
  }

  /** Puts back a token whose caller gave up waiting for it. */
  giveBack(): void {
    this.#tokens = Math.min(this.#capacity, this.#tokens + UNITS_PER_TOKEN);
  }

  /** Returns the milliseconds until the next token is available. */
  peek(): number {
    const now = this.#now();
    // If the clock was set back, no tokens are added.
    this.#tokens = Math.min(this.#capacity, this.#tokens + Math.max(0, now - this.#at) * this.#perMs);
    this.#at = now;
    // With a rate of 0 this is Infinity.
    return this.#tokens >= UNITS_PER_TOKEN ? 0 : Math.ceil((UNITS_PER_TOKEN - this.#tokens) / this.#perMs);
  }

  /** Changes the rate. Available tokens are kept up to the new capacity. */
  adjust(perMinute: number): void {
    this.peek();
    this.#perMs = perMinute;
    this.#capacity = perMinute === 0 ? 0 : Math.max(1, Math.floor(perMinute / 10)) * UNITS_PER_TOKEN;
    this.#tokens = Math.min(this.#tokens, this.#capacity);
  }
}
