import type { ClientRequest, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { GatewayError } from '../../model/errors.ts';
import { SseReader } from './frame-sse.ts';
import type { SseEvent } from './frame-sse.ts';
import type { HttpOrigin, Lane } from './http-origin.ts';

export interface ExchangeRequest {
  readonly method: 'DELETE' | 'GET' | 'POST';
  readonly path: string;
  /** Name, value, name, value; the headers of the origin come on top. */
  readonly headers: readonly string[];
  readonly body?: string;
  readonly lane: Lane;
  /** The server moved to this path for good. */
  readonly moved?: (path: string) => void;
}

/** Gets either `body`, or `opened`, events and then `ended`; a failure is `ended` with an error at any time. */
export interface Receiver {
  /** The whole answer, of any status, that is not an event stream; at most 64 KB of it where it is no success. */
  body(answer: IncomingMessage, text: string): void;
  opened(answer: IncomingMessage): void;
  event(event: SseEvent): void;
  ended(error: Error | undefined): void;
}

const MAX_REDIRECTS = 3;
const MAX_ERROR_BYTES = 64 * 1024;

/** One HTTP request and its answer, redirects within the origin included. */
export class HttpExchange implements Member {
  place = NOWHERE;
  readonly #origin: HttpOrigin;
  readonly #request: ExchangeRequest;
  readonly #receiver: Receiver;
  #message: ClientRequest | undefined;
  #reader: SseReader | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #redirects = 0;
  #isOver = false;

  constructor(origin: HttpOrigin, request: ExchangeRequest, receiver: Receiver) {
    this.#origin = origin;
    this.#request = request;
    this.#receiver = receiver;
  }

  get lastEventId(): string | undefined {
    return this.#reader?.lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#reader?.retryMs;
  }

  /** Whether the server can have seen any of it. */
  get isSent(): boolean {
    const socket = this.#message?.socket;
    return socket !== undefined && socket !== null && !socket.connecting;
  }

  /** The receiver is never called before this returns. */
  start(): void {
    this.#origin.open.add(this);
    this.#origin.headers.get(
      (lines) => this.#send(lines, this.#request.path),
      (error) => this.#endLater(error),
    );
  }

  /** The receiver hears nothing more. */
  destroy(): void {
    this.#finish();
    this.#message?.destroy();
  }

  /** Does not let an answer hang about that nobody waits for. */
  destroyAfter(delayMs: number): void {
    if (this.#isOver) return;
    this.#expiry ??= setTimeout(() => this.destroy(), delayMs).unref();
  }

  #send(lines: readonly string[], path: string): void {
    if (this.#isOver) return;
    const { method, headers, body, lane } = this.#request;
    let message: ClientRequest;
    try {
      message = this.#origin.request({ method, path, lane, headers: [...lines, ...headers] });
    } catch (error) {
      return this.#endLater(error instanceof Error ? error : new Error('The request could not be made.'));
    }
    this.#message = message;
    message.on('response', (answer) => {
      if (this.#isOver) return;
      if (!this.#isRedirected(answer, lines, path)) this.#receive(answer);
    });
    message.on('error', (error) => {
      // Of a request that a redirect has left behind nothing matters any more.
      if (message === this.#message) this.#end(error);
    });
    message.end(body);
  }

  #isRedirected(answer: IncomingMessage, lines: readonly string[], path: string): boolean {
    const status = answer.statusCode;
    const { location } = answer.headers;
    if ((status !== 307 && status !== 308) || location === undefined) return false;
    const target = this.#origin.pathOf(location, path);
    if (target === undefined || this.#redirects === MAX_REDIRECTS) return false;
    this.#redirects++;
    // Frameworks add or drop a final slash by a temporary redirect; paying for it with every call would be silly.
    if (status === 308 || target === `${path}/` || `${target}/` === path) this.#request.moved?.(target);
    const left = this.#message;
    this.#send(lines, target);
    if (answer.headers['content-length'] === '0') answer.resume();
    else left?.destroy();
    return true;
  }

  #receive(answer: IncomingMessage): void {
    const source = decoded(answer);
    if (source instanceof Error) return this.#break(source);
    source.on('error', (error: Error) => this.#end(error));
    const isStream = isSuccess(answer) && /^text\/event-stream\b/i.test(answer.headers['content-type'] ?? '');
    if (isStream) this.#readEvents(answer, source);
    else this.#readBody(answer, source);
  }

  #readEvents(answer: IncomingMessage, source: Readable): void {
    const reader = new SseReader({
      maxBytes: this.#origin.maxMessageBytes,
      onEvent: (event) => {
        if (!this.#isOver) this.#receiver.event(event);
      },
    });
    this.#reader = reader;
    source.on('data', (chunk: Buffer) => {
      if (this.#isOver) return;
      try {
        reader.push(chunk);
      } catch (error) {
        // What a receiver throws is a mistake of ours and must not be taken for one of the server.
        if (!(error instanceof GatewayError)) throw error;
        this.#break(error);
      }
    });
    source.on('end', () => this.#end(undefined));
    this.#receiver.opened(answer);
  }

  #readBody(answer: IncomingMessage, source: Readable): void {
    const maxBytes = isSuccess(answer) ? this.#origin.maxMessageBytes : MAX_ERROR_BYTES;
    const chunks: Buffer[] = [];
    let size = 0;
    const deliver = (): void => {
      if (this.#isOver) return;
      this.#finish();
      const [first] = chunks;
      const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
      this.#receiver.body(answer, bytes.toString('utf8', 0, Math.min(size, maxBytes)));
    };
    source.on('data', (chunk: Buffer) => {
      if (this.#isOver) return;
      chunks.push(chunk);
      size += chunk.length;
      if (size <= maxBytes) return;
      if (isSuccess(answer)) {
        return this.#break(
          new GatewayError('UPSTREAM_PROTOCOL', `The server sent an answer larger than ${maxBytes} bytes.`),
        );
      }
      deliver();
      this.#message?.destroy();
    });
    source.on('end', deliver);
  }

  #break(error: Error): void {
    this.#end(error);
    this.#message?.destroy();
  }

  #endLater(error: Error): void {
    process.nextTick(() => this.#end(error));
  }

  #end(error: Error | undefined): void {
    if (this.#isOver) return;
    this.#finish();
    this.#receiver.ended(error);
  }

  #finish(): void {
    this.#isOver = true;
    clearTimeout(this.#expiry);
    this.#origin.open.delete(this);
  }
}

export function isSuccess(answer: IncomingMessage): boolean {
  const status = answer.statusCode ?? 0;
  return status >= 200 && status < 300;
}

/** Bounds are kept on what comes out, so that a small body cannot unfold into a large one. */
function decoded(answer: IncomingMessage): Readable | Error {
  const encoding = answer.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return answer;
  const decoder =
    encoding === 'gzip' || encoding === 'x-gzip'
      ? createGunzip()
      : encoding === 'deflate'
        ? createInflate()
        : encoding === 'br'
          ? createBrotliDecompress()
          : undefined;
  if (decoder === undefined) {
    return new GatewayError(
      'UPSTREAM_PROTOCOL',
      `The server sent an answer in an encoding not asked for: ${encoding}.`,
    );
  }
  // The decoder gets the error of either and is what is listened to.
  return pipeline(answer, decoder, () => {});
}
