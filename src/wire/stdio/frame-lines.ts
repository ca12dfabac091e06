const NEWLINE = 10;
const RETURN = 13;
/** From here on decoding costs more than what is done with a line that is only passed on. */
const LARGE_BYTES = 64 * 1024;

/** Long ones are left undecoded. */
export type Line = string | Buffer;

/** Cuts a byte stream into lines without joining what has already been cut, so that large messages stay linear. */
export class LineReader {
  readonly #onLine: (line: Line) => void;
  readonly #onTooLong: (bytes: number) => void;
  readonly #maxBytes: number;
  #parts: Buffer[] = [];
  #length = 0;
  #skipping = false;

  constructor(options: {
    readonly maxBytes: number;
    readonly onLine: (line: Line) => void;
    /** The rest of that line is skipped, the next one is read again. */
    readonly onTooLong: (bytes: number) => void;
  }) {
    this.#maxBytes = options.maxBytes;
    this.#onLine = options.onLine;
    this.#onTooLong = options.onTooLong;
  }

  push(chunk: Buffer): void {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#endLine(chunk, from, at);
      from = at + 1;
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  /** A last line without its newline still counts. */
  end(): void {
    this.#endLine(Buffer.alloc(0), 0, 0);
  }

  #endLine(chunk: Buffer, from: number, to: number): void {
    if (this.#skipping) {
      this.#skipping = false;
      return;
    }
    if (this.#length === 0) {
      this.#emit(chunk, from, to);
      return;
    }
    const whole = Buffer.concat([...this.#parts, chunk.subarray(from, to)]);
    this.#parts = [];
    this.#length = 0;
    this.#emit(whole, 0, whole.length);
  }

  #emit(buffer: Buffer, from: number, to: number): void {
    const end = to > from && buffer[to - 1] === RETURN ? to - 1 : to;
    if (end <= from) return;
    if (end - from > this.#maxBytes) this.#onTooLong(end - from);
    else if (end - from >= LARGE_BYTES) this.#onLine(buffer.subarray(from, end));
    else this.#onLine(buffer.toString('utf8', from, end));
  }

  #keep(part: Buffer): void {
    if (this.#skipping) return;
    this.#parts.push(part);
    this.#length += part.length;
    // One more may be the carriage return of a line that just fits.
    if (this.#length <= this.#maxBytes + 1) return;
    this.#onTooLong(this.#length);
    this.#parts = [];
    this.#length = 0;
    this.#skipping = true;
  }
}
