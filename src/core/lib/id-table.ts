/** The initial number of slots. It must be a power of two; see `#slotOf`. */
const FIRST_SIZE = 32;

/**
 * Stores values by id, and assigns the ids in ascending order. It replaces a `Map` for values that come and go with every call; see
 * `SwapRemoveSet` for the reason. The low bits of an id are the slot of its value, and ids whose slot is taken are skipped.
 */
export class IdTable<T> {
  #values: (T | undefined)[] = Array.from({ length: FIRST_SIZE }, () => undefined);
  #ids: number[] = Array.from({ length: FIRST_SIZE }, () => 0);
  #last = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the next id. The caller must `set` its value before asking for another one. */
  assignId(): number {
    // At most half of the slots are taken, so a free one is found quickly.
    if (this.#size * 2 >= this.#values.length) this.#grow();
    do this.#last++;
    while (this.#values[this.#slotOf(this.#last)] !== undefined);
    return this.#last;
  }

  set(id: number, value: T): void {
    const slot = this.#slotOf(id);
    if (this.#values[slot] === undefined) this.#size++;
    this.#values[slot] = value;
    this.#ids[slot] = id;
  }

  get(id: number): T | undefined {
    const slot = this.#slotOf(id);
    return this.#ids[slot] === id ? this.#values[slot] : undefined;
  }

  delete(id: number): void {
    if (this.get(id) === undefined) return;
    this.#values[this.#slotOf(id)] = undefined;
    this.#size--;
  }

  /** Returns all entries, the oldest first. */
  entries(): readonly (readonly [number, T])[] {
    const found: (readonly [number, T])[] = [];
    for (const [slot, value] of this.#values.entries())
      if (value !== undefined) found.push([this.#ids[slot] ?? 0, value]);
    return found.toSorted(([a], [b]) => a - b);
  }

  #slotOf(id: number): number {
    return id & (this.#values.length - 1);
  }

  #grow(): void {
    const before = this.entries();
    const size = this.#values.length * 2;
    this.#values = Array.from({ length: size }, () => undefined);
    this.#ids = Array.from({ length: size }, () => 0);
    this.#size = 0;
    // Ids that had different slots differ in the lower bits, so they have different slots in the larger table, too.
    for (const [id, value] of before) this.set(id, value);
  }
}
