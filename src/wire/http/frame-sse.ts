import { GatewayError } from '../../model/errors.ts';

export interface SseEvent {
  /** Empty where the server named none, which means `message`. */
  readonly event: string;
  readonly data: string;
}

const NEWLINE = 10;
const RETURN = 13;
const SPACE = 32;
const COLON = 58;
const LONGEST_FIELD = 'event'.length;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/**
 * Reads `text/event-stream` from chunks that may be cut anywhere. Lines end at ASCII bytes and are decoded whole, so
 * a character that spans two chunks survives.
 */
export class SseReader {
  readonly #maxBytes: number;
  readonly #onEvent: (event: SseEvent) => void;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #isFirstLine = true;
  #endedWithReturn = false;
  #event = '';
  #data: string | undefined;
  #id: string | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;

  constructor(options: { readonly maxBytes: number; readonly onEvent: (event: SseEvent) => void }) {
    this.#maxBytes = options.maxBytes;
    this.#onEvent = options.onEvent;
  }

  /** Where a broken stream can be resumed; it also moves with events that carry no data. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#retryMs;
  }

  /** Throws where an event is larger than allowed; the reader is of no use after that. */
  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    let from = this.#endedWithReturn && chunk[0] === NEWLINE ? 1 : 0;
    this.#endedWithReturn = false;
    // Both positions are remembered: asking for the absent one at every line would read the chunk over and over.
    let newline = chunk.indexOf(NEWLINE, from);
    let back = chunk.indexOf(RETURN, from);
    while (newline >= 0 || back >= 0) {
      const isReturn = newline < 0 || (back >= 0 && back < newline);
      const at = isReturn ? back : newline;
      this.#endLine(chunk, from, at);
      from = at + 1;
      if (isReturn) {
        if (from === chunk.length) this.#endedWithReturn = true;
        else if (chunk[from] === NEWLINE) from++;
        back = chunk.indexOf(RETURN, from);
      }
      if (newline >= 0 && newline < from) newline = chunk.indexOf(NEWLINE, from);
    }
    if (from < chunk.length) this.#keep(from === 0 ? chunk : chunk.subarray(from));
  }

  #keep(part: Buffer): void {
    this.#parts.push(part);
    this.#partBytes += part.length;
    this.#checkSize(this.#partBytes);
  }

  #endLine(chunk: Buffer, from: number, to: number): void {
    if (this.#partBytes === 0) return this.#line(chunk, from, to);
    const whole = Buffer.concat([...this.#parts, chunk.subarray(from, to)]);
    this.#parts = [];
    this.#partBytes = 0;
    this.#line(whole, 0, whole.length);
  }

  #line(bytes: Buffer, from: number, to: number): void {
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
    if (colon < to && bytes[colon] !== COLON) return; // No field that we know.
    const value = bytes[colon + 1] === SPACE ? colon + 2 : colon + 1;
    this.#field(bytes.toString('latin1', from, colon), bytes.toString('utf8', Math.min(value, to), to));
  }

  #field(name: string, value: string): void {
    switch (name) {
      case 'data':
        this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
        this.#checkSize(this.#data.length);
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
    const data = this.#data;
    this.#event = '';
    this.#data = undefined;
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

/** The text of one event; `event` and `id` are ours and hold no line breaks, `data` may. */
export function sseEvent(event: {
  readonly data: string;
  readonly event?: string;
  readonly id?: string;
  readonly retryMs?: number;
}): string {
  const name = event.event === undefined ? '' : `event: ${event.event}\n`;
  const id = event.id === undefined ? '' : `id: ${event.id}\n`;
  const retry = event.retryMs === undefined ? '' : `retry: ${event.retryMs}\n`;
  const data = /[\r\n]/.test(event.data) ? event.data.split(/\r\n|\r|\n/).join('\ndata: ') : event.data;
  return `${name}${id}${retry}data: ${data}\n\n`;
}
