/** Always a power of two. */
const FIRST_SIZE = 32;

/**
 * Values by numbers that are given out here: each is larger than the one before, and none is given twice. It stands in for a `Map`
 * where values come and go with every call; see `Crowd` for the reason. A value has its place by the last digits of its number, and
 * a number whose place is taken is not given out.
 */
export class Numbered<T> {
  #values: (T | undefined)[] = Array.from({ length: FIRST_SIZE }, () => undefined);
  #numbers: number[] = Array.from({ length: FIRST_SIZE }, () => 0);
  #last = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** A number for a value that is set at once. */
  next(): number {
    if (this.#size * 2 >= this.#values.length) this.#grow();
    do this.#last++;
    while (this.#values[this.#placeOf(this.#last)] !== undefined);
    return this.#last;
  }

  set(number: number, value: T): void {
    const place = this.#placeOf(number);
    if (this.#values[place] === undefined) this.#size++;
    this.#values[place] = value;
    this.#numbers[place] = number;
  }

  get(number: number): T | undefined {
    const place = this.#placeOf(number);
    return this.#numbers[place] === number ? this.#values[place] : undefined;
  }

  delete(number: number): void {
    if (this.get(number) === undefined) return;
    this.#values[this.#placeOf(number)] = undefined;
    this.#size--;
  }

  /** The oldest first. */
  entries(): readonly (readonly [number, T])[] {
    const found: (readonly [number, T])[] = [];
    for (const [place, value] of this.#values.entries())
      if (value !== undefined) found.push([this.#numbers[place] ?? 0, value]);
    return found.toSorted(([a], [b]) => a - b);
  }

  #placeOf(number: number): number {
    return number & (this.#values.length - 1);
  }

  #grow(): void {
    const before = this.entries();
    const size = this.#values.length * 2;
    this.#values = Array.from({ length: size }, () => undefined);
    this.#numbers = Array.from({ length: size }, () => 0);
    this.#size = 0;
    for (const [number, value] of before) this.set(number, value);
  }
}
