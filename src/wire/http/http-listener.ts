import type { IncomingMessage } from 'node:http';

import { GatewayError } from '../../model/errors.ts';
import type { SseEvent } from './frame-sse.ts';
import { isMessage } from './http-call.ts';
import type { HttpExchange, Receiver } from './http-exchange.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { HttpStatusError } from '../stream.ts';
import type { StreamEvents } from '../stream.ts';

export interface ListenerOwner {
  readonly events: StreamEvents;
  readonly random: () => number;
  listen(lastEventId: string | undefined, receiver: Receiver): HttpExchange;
  sessionLost(error: HttpStatusError): void;
}

/** Failures in a row after which we stop; about seven minutes. */
const MAX_FAILURES = 30;

/** The GET stream of the legacy era, on which a server sends what belongs to no request. */
export class HttpListener implements Receiver {
  readonly #owner: ListenerOwner;
  #exchange: HttpExchange | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #failures = 0;
  #wasOpen = false;
  #isStopped = false;

  constructor(owner: ListenerOwner) {
    this.#owner = owner;
  }

  start(): void {
    this.#exchange = this.#owner.listen(this.#lastEventId, this);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#exchange?.destroy();
  }

  body(answer: IncomingMessage, text: string): void {
    const error = new HttpStatusError(
      answer.statusCode ?? 0,
      answer.headers,
      text,
      answer.statusCode === 404,
    );
    // Servers that only route POST say 404 here, so it speaks of the session only where listening once worked.
    if (error.sessionLost && this.#wasOpen) return this.#owner.sessionLost(error);
    if (error.status >= 500 || error.status === 429) return this.#again(error);
    const isNotOffered = error.status === 405 || error.status === 404;
    if (!isNotOffered) this.#owner.events.trouble?.(error);
  }

  opened(answer: IncomingMessage): void {
    this.#wasOpen = true;
    // Nothing of ours waits for this stream, so it is no reason for the process to stay.
    answer.socket.unref();
  }

  event(event: SseEvent): void {
    this.#failures = 0;
    if (isMessage(event)) this.#owner.events.message(event.data);
  }

  ended(error: Error | undefined): void {
    this.#lastEventId = this.#exchange?.lastEventId ?? this.#lastEventId;
    this.#retryMs = this.#exchange?.retryMs ?? this.#retryMs;
    // The same event would come again, and be too large again.
    if (error instanceof GatewayError) this.#owner.events.trouble?.(error);
    else this.#again(error);
  }

  #again(error: Error | undefined): void {
    if (this.#isStopped) return;
    if (++this.#failures > MAX_FAILURES) {
      this.#owner.events.trouble?.(
        error ?? new Error('The server keeps ending the stream of notifications.'),
      );
      return;
    }
    const delayMs = reconnectDelayMs({
      attempt: this.#failures,
      retryMs: this.#retryMs,
      random: this.#owner.random,
    });
    this.#timer = setTimeout(() => this.start(), delayMs).unref();
  }
}
