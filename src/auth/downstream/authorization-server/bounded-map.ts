/** Values with an end; the oldest makes room when there are too many. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, { readonly value: Value; readonly until: number }>();
  readonly #max: number;
  readonly #now: () => number;

  constructor(options: { readonly max: number; readonly now: () => number }) {
    this.#max = options.max;
    this.#now = options.now;
  }

  set(key: string, value: Value, ttlMs: number): void {
    this.#values.delete(key);
    for (const [oldest, { until }] of this.#values) {
      if (this.#values.size < this.#max && until > this.#now()) break;
      this.#values.delete(oldest);
    }
    this.#values.set(key, { value, until: this.#now() + ttlMs });
  }

  get(key: string): Value | undefined {
    const found = this.#values.get(key);
    return found !== undefined && found.until > this.#now() ? found.value : undefined;
  }

  /** Whoever takes it is the only one. */
  take(key: string): Value | undefined {
    const value = this.get(key);
    this.#values.delete(key);
    return value;
  }
}
