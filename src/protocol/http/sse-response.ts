import type { ServerResponse } from 'node:http';

import { NOT_IN_SET } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import { formatSseEvent } from './sse-reader.ts';

export interface ResponseLimits {
  /** The maximum number of buffered bytes for a client that does not read; the last message may exceed it. */
  readonly maxBufferedBytes: number;
  /** Called when a client was disconnected because it does not read. */
  onSlowClient(bufferedBytes: number): void;
  /** Limits the bytes that are buffered for all clients together; only responses with many buffered bytes are added to it. */
  readonly unsent?: UnsentResponses;
}

/** A response is destroyed after this many checks without progress, because TCP does not report that a client stopped reading. */
const MAX_STALLED_CHECKS = 8;
const STREAM_HEADERS = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache',
  'X-Accel-Buffering',
  'no',
] as const;

/** Smaller responses are not counted: even on all 4,096 connections that `listen` allows they need at most 256 MiB. */
export const LARGE_BYTES = 64 * 1024;

/**
 * Limits the bytes that are buffered for all clients together, because many clients can each leave a response unread without exceeding
 * the limit per client. The client with the oldest unread response is disconnected first; the newest response is kept whatever its size.
 */
export class UnsentResponses {
  /** Responses with unread data, oldest first. */
  readonly #responses = new Set<ServerResponse>();
  readonly #maxBytes: number;
  readonly #onSlowClient: (bufferedBytes: number) => void;

  constructor(maxBytes: number, onSlowClient: (bufferedBytes: number) => void) {
    this.#maxBytes = maxBytes;
    this.#onSlowClient = onSlowClient;
  }

  /** Counts a response from now on, unless all of it has already been passed to the operating system. */
  add(response: ServerResponse): void {
    if (response.writableLength === 0) return;
    if (!this.#responses.has(response)) {
      this.#responses.add(response);
      response.once('close', () => this.#responses.delete(response));
    }
    let total = 0;
    for (const { writableLength } of this.#responses) total += writableLength;
    for (const oldest of this.#responses) {
      if (total <= this.#maxBytes || oldest === response) return;
      total -= oldest.writableLength;
      this.#disconnect(oldest);
    }
  }

  #disconnect(response: ServerResponse): void {
    this.#responses.delete(response);
    if (response.writableLength === 0) return;
    this.#onSlowClient(response.writableLength);
    response.destroy();
  }
}

/** Receives the events of a stream. */
export interface SseSink {
  readonly isOpen: boolean;
  send(data: string, event?: string, id?: string): void;
  tick(): void;
  end(): void;
  destroy(): void;
}

/** Writes server-sent events to one response. The owner must observe the end of the response. */
export class SseResponse implements SseSink, SetMember {
  index = NOT_IN_SET;
  readonly #response: ServerResponse;
  readonly #limits: ResponseLimits;
  readonly #stallDetector: StallDetector;
  #isOpen = true;

  constructor(response: ServerResponse, limits: ResponseLimits) {
    this.#response = response;
    this.#limits = limits;
    this.#stallDetector = new StallDetector(response, limits);
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#response.destroyed;
  }

  /** Prepares the headers, which are sent with the first event or by `flush`. */
  start(headers: readonly string[]): void {
    this.#response.writeHead(200, [...STREAM_HEADERS, ...headers]);
  }

  flush(): void {
    this.#response.flushHeaders();
  }

  send(data: string, event = 'message', id?: string): void {
    if (!this.isOpen) return;
    const buffered = this.#response.writableLength;
    if (buffered > this.#limits.maxBufferedBytes) {
      this.#isOpen = false;
      this.#limits.onSlowClient(buffered);
      this.#response.destroy();
      return;
    }
    this.#response.write(formatSseEvent({ event, data, id }));
    // Events of any size are counted, but only once per 64 KiB, because counting looks at all responses.
    if (Math.floor(buffered / LARGE_BYTES) < Math.floor(this.#response.writableLength / LARGE_BYTES))
      this.#limits.unsent?.add(this.#response);
  }

  /** Called periodically: a comment keeps proxies and clients from closing a quiet stream. */
  tick(): void {
    if (this.#stallDetector.check() || !this.isOpen || this.#response.writableLength > 0) return;
    this.#response.write(': \n\n');
  }

  end(): void {
    if (!this.isOpen) return;
    this.#isOpen = false;
    this.#response.end();
  }

  destroy(): void {
    this.#isOpen = false;
    this.#response.destroy();
  }
}

/** Destroys a response whose client has stopped reading. */
export class StallDetector {
  readonly #response: ServerResponse;
  readonly #limits: ResponseLimits;
  #bytesSent = -1;
  #stalledChecks = 0;

  constructor(response: ServerResponse, limits: ResponseLimits) {
    this.#response = response;
    this.#limits = limits;
  }

  /** Returns true if the response was destroyed, now or earlier. */
  check(): boolean {
    const { socket, writableLength, destroyed } = this.#response;
    if (destroyed) return true;
    if (socket === null || writableLength === 0) {
      this.#stalledChecks = 0;
      return false;
    }
    // `bytesWritten` includes the bytes that still wait in the buffer of the socket.
    const sent = socket.bytesWritten - socket.writableLength;
    this.#stalledChecks = sent === this.#bytesSent ? this.#stalledChecks + 1 : 0;
    this.#bytesSent = sent;
    if (this.#stalledChecks < MAX_STALLED_CHECKS) return false;
    this.#limits.onSlowClient(writableLength);
    this.#response.destroy();
    return true;
  }
}
