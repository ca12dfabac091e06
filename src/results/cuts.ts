/** Units of one text that are told apart; what follows is cut by length alone, so that the index stays small. */
const MAX_UNITS = 1_000_000;

/** Where a text is cut into units, none of them longer than `most` characters. Together the units are the text. */
export class Cuts {
  readonly #text: string;
  readonly #most: number;
  #ends = new Uint32Array(64);
  #count = 0;

  constructor(text: string, most: number) {
    this.#text = text;
    this.#most = most;
  }

  get count(): number {
    return this.#count;
  }

  get text(): string {
    return this.#text;
  }

  /** For handing over to another thread. */
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

  /** Ends a unit here; a longer one becomes several. */
  add(end: number): void {
    if (this.#count >= MAX_UNITS || end <= this.start(this.#count)) return;
    this.#pieces(end);
    this.#push(end);
  }

  /** There is at least one unit, be it empty. */
  finish(): this {
    const end = this.#text.length;
    if (end === 0) this.#push(0);
    else if (end > this.start(this.#count)) {
      this.#pieces(end);
      this.#push(end);
    }
    return this;
  }

  #pieces(end: number): void {
    let from = this.start(this.#count);
    while (end - from > this.#most) {
      from += this.#most;
      // A character of two halves, or a line end of two characters, is not taken apart.
      if (isFirstHalf(this.#text.charCodeAt(from - 1))) from -= 1;
      this.#push(from);
    }
  }

  #push(end: number): void {
    if (this.#count === this.#ends.length) {
      const more = new Uint32Array(this.#ends.length * 2);
      more.set(this.#ends);
      this.#ends = more;
    }
    this.#ends[this.#count] = end;
    this.#count += 1;
  }
}

function isFirstHalf(code: number): boolean {
  return code === 13 || (code >= 0xd800 && code <= 0xdbff);
}
