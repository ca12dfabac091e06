import { ChunkCollector } from '../../core/lib/chunk-collector.ts';

const NEWLINE = 10;
const RETURN = 13;
/** Lines of at least this size are passed on undecoded, because decoding would cost more than all other work on them. */
const LARGE_BYTES = 64 * 1024;

/** One message as it was received; a message of 64 KiB or more is not decoded. */
export type RawMessage = string | Buffer;

/** Splits a byte stream into lines. Parts of a line are joined once, so the cost stays linear for large messages. */
export class LineReader {
  readonly #onLine: (line: RawMessage) => void;
  readonly #onTooLong: (bytes: number) => void;
  readonly #maxBytes: number;
  /** The beginning of a line whose end has not arrived. */
  readonly #line = new ChunkCollector();
  /** Whether the rest of a line that is too long is being skipped. */
  #isSkipping = false;

  constructor(options: {
    readonly maxBytes: number;
    readonly onLine: (line: RawMessage) => void;
    /** Called when a line exceeds `maxBytes`; its rest is skipped, the next line is read normally. */
    readonly onTooLong: (bytes: number) => void;
  }) {
    this.#maxBytes = options.maxBytes;
    this.#onLine = options.onLine;
    this.#onTooLong = options.onTooLong;
  }

  /** Completes the line that an earlier chunk began, emits all complete lines of this chunk, and stores the rest. */
  push(chunk: Buffer): void {
    const last = chunk.lastIndexOf(NEWLINE);
    let from = 0;
    if (last >= 0 && (this.#line.length > 0 || this.#isSkipping)) {
      const at = chunk.indexOf(NEWLINE);
      this.#endLine(chunk, 0, at);
      from = at + 1;
    }
    if (last >= from) this.#emitAll(chunk, from, last);
    if (last + 1 < chunk.length) this.#store(last < 0 ? chunk : chunk.subarray(last + 1));
  }

  /** Emits a last line that has no newline. */
  end(): void {
    this.#endLine(Buffer.alloc(0), 0, 0);
  }

  #endLine(chunk: Buffer, from: number, to: number): void {
    if (this.#isSkipping) {
      this.#isSkipping = false;
      return;
    }
    if (this.#line.length === 0) {
      this.#emit(chunk, from, to);
      return;
    }
    this.#line.add(chunk.subarray(from, to));
    const line = this.#line.take();
    this.#emit(line, 0, line.length);
  }

  /** Emits the lines of one chunk. Small lines are decoded together, which takes a third of the time of decoding each separately. */
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

  #store(part: Buffer): void {
    if (this.#isSkipping) return;
    this.#line.add(part);
    // One more byte is allowed, because it may be the carriage return of a line that just fits.
    if (this.#line.length <= this.#maxBytes + 1) return;
    this.#onTooLong(this.#line.length);
    this.#line.clear();
    this.#isSkipping = true;
  }
}
