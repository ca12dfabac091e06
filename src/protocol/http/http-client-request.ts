import type { ClientRequest, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

import { ChunkCollector } from '../../core/lib/chunk-collector.ts';
import { readInTurns } from '../../core/lib/read-in-turns.ts';
import { NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import { GatewayError } from '../../core/errors.ts';
import { SseReader } from './sse-reader.ts';
import type { SseEvent } from './sse-reader.ts';
import type { HttpOrigin, SocketPool } from './http-origin.ts';

export interface HttpRequestOptions {
  readonly method: 'DELETE' | 'GET' | 'POST';
  readonly path: string;
  /** A flat list of names and values; the base headers of the origin are added. */
  readonly headers: readonly string[];
  readonly body?: string;
  readonly socketPool: SocketPool;
  /** Called when further requests should use this path; see `#followRedirect`. */
  readonly onMoved?: (path: string) => void;
}

/**
 * Receives a response: either one `onBody`, or one `onStream`, any number of `onEvent` and then `onEnd`. A failure at any time calls
 * `onEnd` with an error.
 */
export interface HttpResponseHandler {
  /** Receives a complete response of any status that is not an event stream. The text of an unsuccessful one is cut after 64 KiB. */
  onBody(response: IncomingMessage, text: string): void;
  onStream(response: IncomingMessage): void;
  onEvent(event: SseEvent): void;
  onEnd(error: Error | undefined): void;
}

const MAX_REDIRECTS = 3;
const MAX_ERROR_BYTES = 64 * 1024;

/** One HTTP request and its response, including redirects within the origin. */
export class HttpClientRequest implements SetMember {
  index = NOT_IN_SET;
  readonly #origin: HttpOrigin;
  readonly #options: HttpRequestOptions;
  readonly #handler: HttpResponseHandler;
  #message: ClientRequest | undefined;
  #reader: SseReader | undefined;
  #expiry: NodeJS.Timeout | undefined;
  #redirects = 0;
  #isFinished = false;

  constructor(origin: HttpOrigin, options: HttpRequestOptions, handler: HttpResponseHandler) {
    this.#origin = origin;
    this.#options = options;
    this.#handler = handler;
  }

  get lastEventId(): string | undefined {
    return this.#reader?.lastEventId;
  }

  get retryMs(): number | undefined {
    return this.#reader?.retryMs;
  }

  /** Whether the server may have received a part of the request. */
  get isSent(): boolean {
    const socket = this.#message?.socket;
    return socket !== undefined && socket !== null && !socket.connecting;
  }

  /** Sends the request. The handler is never called before this method returns. */
  start(): void {
    this.#origin.open.add(this);
    this.#origin.headers.get(
      (lines) => this.#send(lines, this.#options.path),
      (error) => this.#endLater(error),
    );
  }

  /** Aborts the request without calling the handler. */
  destroy(): void {
    this.#finish();
    this.#message?.destroy();
  }

  /** Limits the lifetime of a response that is no longer needed. */
  destroyAfter(delayMs: number): void {
    if (this.#isFinished) return;
    this.#expiry ??= setTimeout(() => this.destroy(), delayMs).unref();
  }

  /** Fails the request if it has not finished within `delayMs`. */
  failAfter(delayMs: number): void {
    if (this.#isFinished) return;
    const message = `The server did not answer a message within ${delayMs / 1000} s.`;
    const fail = (): void => this.#abort(new GatewayError('UPSTREAM_PROTOCOL', message));
    this.#expiry ??= setTimeout(fail, delayMs).unref();
  }

  #send(lines: readonly string[], path: string): void {
    if (this.#isFinished) return;
    const { method, headers, body, socketPool } = this.#options;
    let message: ClientRequest;
    try {
      message = this.#origin.request({ method, path, socketPool, headers: [...lines, ...headers] });
    } catch (error) {
      return this.#endLater(error instanceof Error ? error : new Error('The request could not be created.'));
    }
    this.#message = message;
    message.on('response', (response) => {
      if (this.#isFinished) return;
      if (!this.#followRedirect(response, lines, path)) this.#receive(response);
    });
    message.on('error', (error) => {
      // Errors of the original request do not matter after a redirect has replaced it.
      if (message === this.#message) this.#end(error);
    });
    message.end(body);
  }

  /** Follows a redirect within the origin; returns whether it did. Statuses other than 307 and 308 may change the method. */
  #followRedirect(response: IncomingMessage, lines: readonly string[], path: string): boolean {
    const status = response.statusCode;
    const { location } = response.headers;
    if ((status !== 307 && status !== 308) || location === undefined) return false;
    const target = this.#origin.resolvePath(location, path);
    if (target === undefined || this.#redirects === MAX_REDIRECTS) return false;
    this.#redirects++;
    // Frameworks use a temporary redirect to add or remove a trailing slash; remembering the path saves a round trip per call.
    if (status === 308 || target === `${path}/` || `${target}/` === path) this.#options.onMoved?.(target);
    const redirected = this.#message;
    this.#send(lines, target);
    // The socket can be reused if the redirect has no body; otherwise it is closed, so that the body need not be read.
    if (response.headers['content-length'] === '0') response.resume();
    else redirected?.destroy();
    return true;
  }

  #receive(response: IncomingMessage): void {
    const source = decodeBody(response);
    if (source instanceof Error) return this.#abort(source);
    source.on('error', (error: Error) => this.#end(error));
    const isStream =
      isSuccess(response) && /^text\/event-stream\b/i.test(response.headers['content-type'] ?? '');
    if (isStream) this.#readEventStream(response, source);
    else this.#readBody(response, source);
  }

  #readEventStream(response: IncomingMessage, source: Readable): void {
    const reader = new SseReader({
      maxBytes: this.#origin.maxMessageBytes,
      onEvent: (event) => {
        if (!this.#isFinished) this.#handler.onEvent(event);
      },
    });
    this.#reader = reader;
    readInTurns(source, (chunk) => {
      if (this.#isFinished) return;
      try {
        reader.push(chunk);
      } catch (error) {
        // An exception in the handler is a bug of the gateway and must not be reported as an error of the server.
        if (!(error instanceof GatewayError)) throw error;
        this.#abort(error);
      }
    });
    source.on('end', () => this.#end(undefined));
    this.#handler.onStream(response);
  }

  #readBody(response: IncomingMessage, source: Readable): void {
    const maxBytes = isSuccess(response) ? this.#origin.maxMessageBytes : MAX_ERROR_BYTES;
    const chunks = new ChunkCollector();
    const deliver = (): void => {
      if (this.#isFinished) return;
      this.#finish();
      const bytes = chunks.take();
      this.#handler.onBody(response, bytes.toString('utf8', 0, Math.min(bytes.length, maxBytes)));
    };
    readInTurns(source, (chunk) => {
      if (this.#isFinished) return;
      chunks.add(chunk);
      if (chunks.length <= maxBytes) return;
      if (isSuccess(response)) {
        return this.#abort(
          new GatewayError('UPSTREAM_PROTOCOL', `The server sent a response larger than ${maxBytes} bytes.`),
        );
      }
      deliver();
      this.#message?.destroy();
    });
    source.on('end', deliver);
  }

  #abort(error: Error): void {
    this.#end(error);
    this.#message?.destroy();
  }

  #endLater(error: Error): void {
    process.nextTick(() => this.#end(error));
  }

  #end(error: Error | undefined): void {
    if (this.#isFinished) return;
    this.#finish();
    this.#handler.onEnd(error);
  }

  #finish(): void {
    this.#isFinished = true;
    clearTimeout(this.#expiry);
    this.#origin.open.delete(this);
  }
}

export function isSuccess(response: IncomingMessage): boolean {
  const status = response.statusCode ?? 0;
  return status >= 200 && status < 300;
}

/** Returns the decompressed body. The size limits apply to it, so that a small compressed body cannot exceed them. */
function decodeBody(response: IncomingMessage): Readable | Error {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (encoding === 'identity' || encoding === '') return response;
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
      `The server sent a response in an encoding that was not requested: ${encoding}.`,
    );
  }
  // The decoder emits the errors of both streams.
  return pipeline(response, decoder, () => {});
}
