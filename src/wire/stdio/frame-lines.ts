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
    const last = chunk.lastIndexOf(NEWLINE);
    let from = 0;
    if (last >= 0 && (this.#length > 0 || this.#skipping)) {
      const at = chunk.indexOf(NEWLINE);
      this.#endLine(chunk, 0, at);
      from = at + 1;
    }
    if (last >= from) this.#emitAll(chunk, from, last);
    if (last + 1 < chunk.length) this.#keep(last < 0 ? chunk : chunk.subarray(last + 1));
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

  /** Several lines of one chunk are decoded together, which takes a third of the time of decoding each. */
  #emitAll(chunk: Buffer, from: number, to: number): void {
    if (to - from > this.#maxBytes || to - from >= LARGE_BYTES) {
      for (let at = chunk.indexOf(NEWLINE, from); at >= 0 && at <= to; at = chunk.indexOf(NEWLINE, from)) {
        this.#emit(chunk, from, at);
        from = at + 1;
      }
      return;
    }
    const lines = chunk.toString('utf8', from, to);
    let start = 0;
    for (let at = lines.indexOf('\n'); at >= 0; at = lines.indexOf('\n', start)) {
      this.#emitText(lines, start, at);
      start = at + 1;
    }
    this.#emitText(lines, start, lines.length);
  }

  #emitText(lines: string, from: number, to: number): void {
    const end = to > from && lines.charCodeAt(to - 1) === RETURN ? to - 1 : to;
    if (end > from) this.#onLine(lines.slice(from, end));
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
