/** A map whose values expire; the oldest values are evicted when it is full. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, { readonly value: Value; readonly expiresAt: number }>();
  readonly #max: number;
  readonly #now: () => number;

  constructor(options: { readonly max: number; readonly now: () => number }) {
    this.#max = options.max;
    this.#now = options.now;
  }

  set(key: string, value: Value, ttlMs: number): void {
    this.#values.delete(key);
    // Removes the oldest values until there is room and the oldest remaining value is still valid.
    for (const [oldest, { expiresAt }] of this.#values) {
      if (this.#values.size < this.#max && expiresAt > this.#now()) break;
      this.#values.delete(oldest);
    }
    this.#values.set(key, { value, expiresAt: this.#now() + ttlMs });
  }

  get(key: string): Value | undefined {
    const entry = this.#values.get(key);
    return entry !== undefined && entry.expiresAt > this.#now() ? entry.value : undefined;
  }

  /** Removes and returns the value. */
  take(key: string): Value | undefined {
    const value = this.get(key);
    this.#values.delete(key);
    return value;
  }
}
