import type { IncomingMessage } from 'node:http';

import { GatewayError } from '../../core/errors.ts';
import type { SseEvent } from './sse-reader.ts';
import { isMessageEvent } from './http-call.ts';
import type { HttpClientRequest, HttpResponseHandler } from './http-client-request.ts';
import { reconnectDelayMs } from './reconnect-delay.ts';
import { HttpStatusError } from '../client-transport.ts';
import type { TransportEvents } from '../client-transport.ts';

export interface ListenStreamOwner {
  readonly events: TransportEvents;
  readonly random: () => number;
  listen(lastEventId: string | undefined, handler: HttpResponseHandler): HttpClientRequest;
  onSessionLost(error: HttpStatusError): void;
}

/** The stream is given up after this many consecutive failures; with the default back-off this takes about seven minutes. */
const MAX_FAILURES = 30;

/** The GET stream of the legacy era, on which a server sends messages that belong to no request. */
export class HttpListenStream implements HttpResponseHandler {
  readonly #owner: ListenStreamOwner;
  #request: HttpClientRequest | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #failures = 0;
  #wasOpen = false;
  #isStopped = false;

  constructor(owner: ListenStreamOwner) {
    this.#owner = owner;
  }

  start(): void {
    this.#request = this.#owner.listen(this.#lastEventId, this);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#request?.destroy();
  }

  onBody(response: IncomingMessage, text: string): void {
    const error = new HttpStatusError(
      response.statusCode ?? 0,
      response.headers,
      text,
      response.statusCode === 404,
    );
    // Servers without a GET route also answer 404, so it means a lost session only if the stream was open before.
    if (error.isSessionLost && this.#wasOpen) return this.#owner.onSessionLost(error);
    if (error.status >= 500 || error.status === 429) return this.#retryLater(error);
    const isUnsupported = error.status === 405 || error.status === 404;
    if (!isUnsupported) this.#owner.events.onWarning?.(error);
  }

  onStream(response: IncomingMessage): void {
    this.#wasOpen = true;
    // No request depends on this stream, so it must not keep the process alive.
    response.socket.unref();
  }

  onEvent(event: SseEvent): void {
    this.#failures = 0;
    if (isMessageEvent(event)) this.#owner.events.onMessage(event.data);
  }

  onEnd(error: Error | undefined): void {
    this.#lastEventId = this.#request?.lastEventId ?? this.#lastEventId;
    this.#retryMs = this.#request?.retryMs ?? this.#retryMs;
    // A GatewayError, such as for an event that is too large, would occur again, so the stream is not opened again.
    if (error instanceof GatewayError) this.#owner.events.onWarning?.(error);
    else this.#retryLater(error);
  }

  #retryLater(error: Error | undefined): void {
    if (this.#isStopped) return;
    if (++this.#failures > MAX_FAILURES) {
      this.#owner.events.onWarning?.(error ?? new Error('The server keeps closing the notification stream.'));
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
