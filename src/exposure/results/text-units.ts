/** The maximum number of units in one text. Text after them is split by length alone, which keeps the index small. */
const MAX_UNITS = 1_000_000;

/** A text split into units of at most `maxLength` characters. Joined, the units are the text. */
export class TextUnits {
  readonly #text: string;
  readonly #maxLength: number;
  /** The end of each unit; grows by doubling. */
  #ends = new Uint32Array(64);
  #count = 0;

  constructor(text: string, maxLength: number) {
    this.#text = text;
    this.#maxLength = maxLength;
  }

  get count(): number {
    return this.#count;
  }

  get text(): string {
    return this.#text;
  }

  /** The end of each unit, in a copy that can be posted to another thread. */
  get ends(): Uint32Array {
    return this.#ends.slice(0, this.#count);
  }

  start(unit: number): number {
    return unit === 0 ? 0 : (this.#ends[unit - 1] ?? 0);
  }

  end(unit: number): number {
    return this.#ends[unit] ?? 0;
  }

  unit(unit: number): string {
    return this.#text.slice(this.start(unit), this.end(unit));
  }

  /** Ends the current unit here; a unit that is too long becomes several. */
  add(end: number): void {
    if (this.#count >= MAX_UNITS || end <= this.start(this.#count)) return;
    this.#splitUpTo(end);
    this.#push(end);
  }

  /** Ends the last unit. An empty text has one empty unit. */
  finish(): this {
    const end = this.#text.length;
    if (end === 0) this.#push(0);
    else if (end > this.start(this.#count)) {
      this.#splitUpTo(end);
      this.#push(end);
    }
    return this;
  }

  #splitUpTo(end: number): void {
    let from = this.start(this.#count);
    while (end - from > this.#maxLength) {
      from += this.#maxLength;
      // A surrogate pair or a CRLF must stay in one unit.
      if (isFirstOfPair(this.#text.charCodeAt(from - 1))) from -= 1;
      this.#push(from);
    }
  }

  #push(end: number): void {
    if (this.#count === this.#ends.length) {
      const larger = new Uint32Array(this.#ends.length * 2);
      larger.set(this.#ends);
      this.#ends = larger;
    }
    this.#ends[this.#count] = end;
    this.#count += 1;
  }
}

function isFirstOfPair(code: number): boolean {
  return code === 13 || (code >= 0xd800 && code <= 0xdbff);
}
