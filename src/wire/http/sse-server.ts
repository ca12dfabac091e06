import type { ServerResponse } from 'node:http';

import { NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { sseEvent } from './frame-sse.ts';

export interface StreamLimits {
  /** What may wait for a client that does not read; one message may always be added to it. */
  readonly maxBufferedBytes: number;
  /** A client did not read what it asked for and was cut off. */
  slow(bufferedBytes: number): void;
}

/** A peer whose buffers are full is silent on TCP level too; this many looks without a byte leaving end it. */
const PATIENCE = 8;
const STREAM_HEADERS = [
  'Content-Type',
  'text/event-stream',
  'Cache-Control',
  'no-cache',
  'X-Accel-Buffering',
  'no',
] as const;

/** Where events go. */
export interface EventSink {
  readonly isOpen: boolean;
  send(data: string, event?: string, id?: string): void;
  tick(): void;
  end(): void;
  destroy(): void;
}

/** Server-sent events on one response. Whoever makes it watches for the response's end. */
export class EventStream implements EventSink, Member {
  place = NOWHERE;
  readonly #response: ServerResponse;
  readonly #limits: StreamLimits;
  readonly #stall: StallWatch;
  #isOpen = true;

  constructor(response: ServerResponse, limits: StreamLimits) {
    this.#response = response;
    this.#limits = limits;
    this.#stall = new StallWatch(response, limits);
  }

  get isOpen(): boolean {
    return this.#isOpen && !this.#response.destroyed;
  }

  /** The head waits for the first event unless flushed. */
  start(headers: readonly string[]): void {
    this.#response.writeHead(200, [...STREAM_HEADERS, ...headers]);
  }

  flush(): void {
    this.#response.flushHeaders();
  }

  send(data: string, event = 'message', id?: string): void {
    if (!this.isOpen) return;
    const waiting = this.#response.writableLength;
    if (waiting > this.#limits.maxBufferedBytes) {
      this.#isOpen = false;
      this.#limits.slow(waiting);
      this.#response.destroy();
      return;
    }
    this.#response.write(sseEvent({ event, data, ...(id === undefined ? {} : { id }) }));
  }

  /** Called at a steady pace: a comment keeps proxies and clients from giving up on a quiet stream. */
  tick(): void {
    if (this.#stall.check() || !this.isOpen || this.#response.writableLength > 0) return;
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

/** Ends a response whose client takes nothing any more. */
export class StallWatch {
  readonly #response: ServerResponse;
  readonly #limits: StreamLimits;
  #taken = -1;
  #looks = 0;

  constructor(response: ServerResponse, limits: StreamLimits) {
    this.#response = response;
    this.#limits = limits;
  }

  /** True when the response was cut off. */
  check(): boolean {
    const { socket, writableLength } = this.#response;
    if (socket === null || writableLength === 0) {
      this.#looks = 0;
      return false;
    }
    const taken = socket.bytesWritten - socket.writableLength;
    this.#looks = taken === this.#taken ? this.#looks + 1 : 0;
    this.#taken = taken;
    if (this.#looks < PATIENCE) return false;
    this.#limits.slow(writableLength);
    this.#response.destroy();
    return true;
  }
}
