import type { IncomingMessage } from 'node:http';

import type { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import type { Deferred } from '../../lib/deferred.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Era } from '../../model/server-facts.ts';
import type { SseEvent } from './frame-sse.ts';
import { answerText, readAnswer } from './http-answer.ts';
import { isMessage } from './http-call.ts';
import { HttpExchange, isSuccess } from './http-exchange.ts';
import type { Receiver } from './http-exchange.ts';
import { HttpOrigin } from './http-origin.ts';
import type { HttpOriginOptions } from './http-origin.ts';
import { InitializedGate, isHandshake } from '../initialized-gate.ts';
import { HttpStatusError } from '../stream.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../stream.ts';

interface SseStreamOptions extends HttpOriginOptions {
  readonly events: StreamEvents;
  readonly cancellation: Cancellation;
}

const CLOSED = 'The connection was closed.';

/**
 * HTTP+SSE of 2024-11-05: everything from the server comes on one GET stream, which first says where to POST. The
 * time to connect also bounds the wait for that.
 */
export async function openSseStream(options: SseStreamOptions): Promise<MessageStream> {
  const stream = new SseStream(options);
  const cancel = (reason: Error): void => stream.fail(reason);
  const timer = setTimeout(
    () =>
      stream.fail(new GatewayError('UPSTREAM_PROTOCOL', 'The server did not say where to send messages.')),
    options.connectTimeoutMs,
  );
  options.cancellation.onCancel(cancel);
  try {
    await stream.open();
    return stream;
  } finally {
    clearTimeout(timer);
    options.cancellation.offCancel(cancel);
  }
}

class SseStream implements MessageStream, Receiver {
  readonly #events: StreamEvents;
  readonly #origin: HttpOrigin;
  readonly #path: string;
  readonly #gate: InitializedGate;
  readonly #opening: Deferred<void> = deferred();
  #endpoint: string | undefined;
  #protocol: string | undefined;
  #isClosed = false;
  #gone: Promise<void> | undefined;

  constructor(options: SseStreamOptions) {
    this.#events = options.events;
    this.#origin = new HttpOrigin(options);
    this.#path = this.#origin.path;
    this.#gate = new InitializedGate(
      (message) => this.#post(message),
      () => {},
    );
  }

  open(): Promise<void> {
    if (!this.#isClosed) {
      const headers = ['Accept', 'text/event-stream', 'Cache-Control', 'no-cache'];
      new HttpExchange(
        this.#origin,
        { method: 'GET', path: this.#path, headers, lane: 'side' },
        this,
      ).start();
    }
    return this.#opening.promise;
  }

  send(message: Outgoing): void {
    if (!this.#isClosed) return this.#gate.pass(message);
    if (message.kind !== 'request') return;
    process.nextTick(() => this.#events.failed(message.id, new Error(CLOSED)));
  }

  abandon(id: number): boolean {
    return this.#gate.forget(id);
  }

  negotiated(_era: Era, protocol: string): void {
    this.#protocol = protocol;
  }

  close(): Promise<void> {
    this.fail(new Error(CLOSED));
    return this.#gone ?? Promise.resolve();
  }

  /** Before the endpoint is known nobody has this stream, so only whoever opens it is told. */
  fail(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gate.close();
    this.#gone = this.#origin.close();
    if (this.#endpoint === undefined) this.#opening.reject(error);
    else this.#events.closed(error);
  }

  body(answer: IncomingMessage, text: string): void {
    const status = answer.statusCode ?? 0;
    const problem = 'The server answered without an event stream.';
    this.fail(
      isSuccess(answer)
        ? new GatewayError('UPSTREAM_PROTOCOL', problem)
        : new HttpStatusError(status, answer.headers, text),
    );
  }

  opened(): void {}

  event(event: SseEvent): void {
    if (event.event === 'endpoint') this.#meet(event.data);
    else if (this.#endpoint !== undefined && isMessage(event)) this.#events.message(event.data);
  }

  ended(error: Error | undefined): void {
    this.fail(error ?? new GatewayError('UPSTREAM_CLOSED', 'The server ended the event stream.'));
  }

  #meet(location: string): void {
    const endpoint = this.#origin.pathOf(location.trim(), this.#path);
    if (endpoint === undefined) {
      const problem = 'The server wants messages sent to another origin, which is refused.';
      return this.fail(new GatewayError('UPSTREAM_PROTOCOL', problem));
    }
    this.#endpoint = endpoint;
    this.#opening.resolve();
  }

  #post(message: Outgoing): void {
    const headers = ['Accept', 'application/json', 'Content-Type', 'application/json'];
    headers.push('Content-Length', String(Buffer.byteLength(message.text)));
    if (this.#protocol !== undefined) headers.push('MCP-Protocol-Version', this.#protocol);
    const request = {
      method: 'POST',
      path: this.#endpoint ?? '',
      headers,
      body: message.text,
      lane: 'call',
    } as const;
    new HttpExchange(this.#origin, request, this.#postReceiver(message)).start();
  }

  #postReceiver(message: Outgoing): Receiver {
    const taken = (): void => {
      if (isHandshake(message)) this.#gate.open();
    };
    const failed = (error: Error): void => {
      if (message.kind === 'request') this.#events.failed(message.id, error);
      else this.#events.trouble?.(error);
      taken();
    };
    return {
      body: (answer, text) => {
        if (isSuccess(answer)) {
          taken();
          // Some servers answer here as well as, or instead of, on the stream.
          const own = message.kind === 'request' && text !== '' ? answerText(message.id, text) : undefined;
          if (own !== undefined) this.#events.message(own);
          return;
        }
        const isGone = answer.statusCode === 404;
        const error = new HttpStatusError(answer.statusCode ?? 0, answer.headers, text, isGone);
        const read = message.kind === 'request' && !isGone ? readAnswer(message.id, answer, text) : error;
        if (typeof read === 'string') this.#events.message(read);
        else failed(read);
        if (isGone) this.fail(error);
      },
      opened: taken,
      event: () => {},
      ended: (error) =>
        failed(error ?? new GatewayError('UPSTREAM_CLOSED', 'The server broke off its answer.')),
    };
  }
}
