import { ChunkCollector } from '../../core/lib/chunk-collector.ts';
import { GatewayError } from '../../core/errors.ts';

export interface SseEvent {
  /** The type of the event; empty if the server named none, which means `message`. */
  readonly event: string;
  readonly data: string;
}

const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const COLON = 58;
/** The length of the longest known field names, `event` and `retry`; a line with a longer name is ignored. */
const LONGEST_FIELD = 'event'.length;
const LINE_BREAK = Buffer.from('\n');
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Reads `text/event-stream` from chunks of any size. Every line is decoded as a whole, so that a character that spans two chunks is
 * decoded correctly.
 */
export class SseReader {
  readonly #maxBytes: number;
  readonly #onEvent: (event: SseEvent) => void;
  /** The beginning of a line whose end has not arrived. */
  readonly #line = new ChunkCollector();
  #isFirstLine = true;
  /** Whether the last chunk ended with a carriage return. A newline at the start of the next chunk belongs to the same line break. */
  #endedWithReturn = false;
  #event = '';
  #data: string | undefined;
  /** The data of an event with several lines, as bytes, because many short strings would need several times the memory. */
  #dataLines: ChunkCollector | undefined;
  #id: string | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;

  constructor(options: { readonly maxBytes: number; readonly onEvent: (event: SseEvent) => void }) {
    this.#maxBytes = options.maxBytes;
    this.#onEvent = options.onEvent;
  }

  /** The id to resume a broken stream from; events without data update it, too. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /** Throws if an event exceeds the size limit; the reader must not be used after that. */
  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let from = this.#endedWithReturn && chunk[0] === NEWLINE ? 1 : 0;
    this.#endedWithReturn = false;
    // Both positions are kept across lines, because searching for an absent character at every line would scan the whole chunk each time.
    let newline = chunk.indexOf(NEWLINE, from);
    let carriageReturn = chunk.indexOf(RETURN, from);
    while (newline >= 0 || carriageReturn >= 0) {
      const isReturn = newline < 0 || (carriageReturn >= 0 && carriageReturn < newline);
      const at = isReturn ? carriageReturn : newline;
      this.#endLine(chunk, from, at);
      from = at + 1;
      if (isReturn) {
        if (from === chunk.length) this.#endedWithReturn = true;
        else if (chunk[from] === NEWLINE) from++;
        carriageReturn = chunk.indexOf(RETURN, from);
      }
      if (newline >= 0 && newline < from) newline = chunk.indexOf(NEWLINE, from);
    }
    if (from < chunk.length) this.#store(from === 0 ? chunk : chunk.subarray(from));
  }

  #store(part: Buffer): void {
    this.#line.add(part);
    this.#checkSize(this.#line.length);
  }

  #endLine(chunk: Buffer, from: number, to: number): void {
    if (this.#line.length === 0) return this.#readLine(chunk, from, to);
    this.#line.add(chunk.subarray(from, to));
    const line = this.#line.take();
    this.#readLine(line, 0, line.length);
  }

  #readLine(bytes: Buffer, from: number, to: number): void {
    if (this.#isFirstLine) {
      this.#isFirstLine = false;
      if (BYTE_ORDER_MARK.every((byte, index) => bytes[from + index] === byte))
        from += BYTE_ORDER_MARK.length;
    }
    if (from === to) return this.#dispatch();
    let colon = from;
    const last = Math.min(to, from + LONGEST_FIELD);
    while (colon < last && bytes[colon] !== COLON) colon++;
    if (colon === from) return; // A comment, such as a keep-alive.
    if (colon < to && bytes[colon] !== COLON) return; // An unknown field.
    const value = Math.min(bytes[colon + 1] === SPACE ? colon + 2 : colon + 1, to);
    const name = bytes.toString('latin1', from, colon);
    if (name === 'data' && this.#data !== undefined) this.#addDataLine(this.#data, bytes.subarray(value, to));
    else this.#readField(name, bytes.toString('utf8', value, to));
  }

  #addDataLine(first: string, line: Buffer): void {
    if (this.#dataLines === undefined) {
      this.#dataLines = new ChunkCollector();
      this.#dataLines.add(Buffer.from(first));
    }
    this.#dataLines.add(LINE_BREAK);
    this.#dataLines.add(line);
    this.#checkSize(this.#dataLines.length);
  }

  #readField(name: string, value: string): void {
    switch (name) {
      case 'data':
        this.#data = value;
        this.#checkSize(value.length);
        break;
      case 'event':
        this.#event = value;
        break;
      case 'id':
        if (!value.includes('\0')) this.#id = value;
        break;
      case 'retry':
        if (/^\d{1,9}$/.test(value)) this.#retryMs = Number(value);
        break;
    }
  }

  #dispatch(): void {
    this.#lastEventId = this.#id;
    const event = this.#event;
    const data = this.#dataLines?.take().toString('utf8') ?? this.#data;
    this.#event = '';
    this.#data = undefined;
    this.#dataLines = undefined;
    if (data !== undefined) this.#onEvent({ event, data });
  }

  #checkSize(size: number): void {
    if (size <= this.#maxBytes) return;
    throw new GatewayError(
      'UPSTREAM_PROTOCOL',
      `The server sent an event larger than ${this.#maxBytes} bytes.`,
    );
  }
}

/** Formats one event. `data` may contain line breaks; `event` and `id` never do. */
export function formatSseEvent(event: {
  readonly data: string;
  readonly event?: string | undefined;
  readonly id?: string | undefined;
  readonly retryMs?: number | undefined;
}): string {
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const retry = event.retryMs === undefined ? '' : `retry: ${event.retryMs}\n`;
  const data = /[\r\n]/.test(event.data) ? event.data.split(/\r\n|\r|\n/).join('\ndata: ') : event.data;
  return `${name}${id}${retry}data: ${data}\n\n`;
}
