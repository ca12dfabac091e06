import type { IncomingMessage } from 'node:http';

import type { Cancellation } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import type { Deferred } from '../../core/lib/deferred.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Era } from '../../core/server-facts.ts';
import type { SseEvent } from './sse-reader.ts';
import { findResponseText, parseHttpResponse } from './parse-http-response.ts';
import { isMessageEvent } from './http-call.ts';
import { HttpClientRequest, isSuccess } from './http-client-request.ts';
import type { HttpResponseHandler } from './http-client-request.ts';
import { ACCEPT_TIMEOUT_MS, HttpOrigin, MAX_UNACCEPTED_MESSAGES, unacceptedError } from './http-origin.ts';
import type { HttpOriginOptions } from './http-origin.ts';
import { InitializedGate, isInitializedNotification } from '../initialized-gate.ts';
import { HttpStatusError } from '../client-transport.ts';
import type { ClientTransport, OutgoingMessage, TransportEvents } from '../client-transport.ts';

interface SseTransportOptions extends HttpOriginOptions {
  readonly events: TransportEvents;
  readonly cancellation: Cancellation;
}

/** The time after which the POST of an abandoned request is aborted if the server has not accepted it. */
const ABANDONED_MS = 5000;
const CLOSED = 'The connection was closed.';

/**
 * Opens the HTTP+SSE transport of protocol version 2024-11-05: the server sends all messages on one GET stream, whose first event names
 * the endpoint for POST requests. The connect timeout includes the wait for that event.
 */
export async function openSseTransport(options: SseTransportOptions): Promise<ClientTransport> {
  const transport = new SseTransport(options);
  const cancel = (reason: Error): void => transport.fail(reason);
  const timer = setTimeout(
    () =>
      transport.fail(
        new GatewayError('UPSTREAM_PROTOCOL', 'The server did not send the endpoint event in time.'),
      ),
    options.connectTimeoutMs,
  );
  options.cancellation.onCancel(cancel);
  try {
    await transport.open();
    return transport;
  } finally {
    clearTimeout(timer);
    options.cancellation.offCancel(cancel);
  }
}

class SseTransport implements ClientTransport, HttpResponseHandler {
  readonly #events: TransportEvents;
  readonly #origin: HttpOrigin;
  readonly #path: string;
  readonly #gate: InitializedGate;
  readonly #opening: Deferred<void> = deferred();
  #endpoint: string | undefined;
  #protocol: string | undefined;
  /** The number of notifications and responses that the server has not accepted yet. */
  #unaccepted = 0;
  /** The requests that the server has not accepted yet. */
  readonly #posts = new Map<number, HttpClientRequest>();
  #isClosed = false;
  #originClosed: Promise<void> | undefined;

  constructor(options: SseTransportOptions) {
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
      new HttpClientRequest(
        this.#origin,
        { method: 'GET', path: this.#path, headers, socketPool: 'side' },
        this,
      ).start();
    }
    return this.#opening.promise;
  }

  send(message: OutgoingMessage): void {
    if (!this.#isClosed) return this.#gate.send(message);
    if (message.kind !== 'request') return;
    process.nextTick(() => this.#events.onRequestFailed(message.id, new Error(CLOSED)));
  }

  abandon(id: number): boolean {
    // Without this limit, the bodies of all calls to a server that accepts nothing would stay in memory.
    this.#posts.get(id)?.destroyAfter(ABANDONED_MS);
    this.#posts.delete(id);
    return this.#gate.remove(id);
  }

  setProtocol(_era: Era, protocol: string): void {
    this.#protocol = protocol;
  }

  close(): Promise<void> {
    this.fail(new Error(CLOSED));
    return this.#originClosed ?? Promise.resolve();
  }

  /** Closes the transport. Before the endpoint is known, the transport is not in use, so the error only rejects `open`. */
  fail(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#gate.close();
    this.#originClosed = this.#origin.close();
    if (this.#endpoint === undefined) this.#opening.reject(error);
    else this.#events.onClosed(error);
  }

  onBody(response: IncomingMessage, text: string): void {
    const status = response.statusCode ?? 0;
    const problem = 'The server answered without an event stream.';
    this.fail(
      isSuccess(response)
        ? new GatewayError('UPSTREAM_PROTOCOL', problem)
        : new HttpStatusError(status, response.headers, text),
    );
  }

  onStream(): void {}

  onEvent(event: SseEvent): void {
    if (event.event === 'endpoint') this.#setEndpoint(event.data);
    else if (this.#endpoint !== undefined && isMessageEvent(event)) this.#events.onMessage(event.data);
  }

  onEnd(error: Error | undefined): void {
    this.fail(error ?? new GatewayError('UPSTREAM_CLOSED', 'The server ended the event stream.'));
  }

  #setEndpoint(location: string): void {
    const endpoint = this.#origin.resolvePath(location.trim(), this.#path);
    if (endpoint === undefined) {
      const problem = 'The server named an endpoint on another origin, which is not allowed.';
      return this.fail(new GatewayError('UPSTREAM_PROTOCOL', problem));
    }
    this.#endpoint = endpoint;
    this.#opening.resolve();
  }

  #post(message: OutgoingMessage): void {
    if (message.kind !== 'request' && this.#unaccepted++ === MAX_UNACCEPTED_MESSAGES)
      return this.fail(unacceptedError());
    const headers = ['Accept', 'application/json', 'Content-Type', 'application/json'];
    headers.push('Content-Length', String(Buffer.byteLength(message.text)));
    if (this.#protocol !== undefined) headers.push('MCP-Protocol-Version', this.#protocol);
    const request = {
      method: 'POST',
      path: this.#endpoint ?? '',
      headers,
      body: message.text,
      socketPool: 'call',
    } as const;
    const post = new HttpClientRequest(this.#origin, request, this.#postHandler(message));
    post.start();
    if (message.kind === 'request') this.#posts.set(message.id, post);
    else post.failAfter(ACCEPT_TIMEOUT_MS);
  }

  #postHandler(message: OutgoingMessage): HttpResponseHandler {
    let isAccepted = false;
    const settle = (): void => {
      if (isAccepted) return;
      isAccepted = true;
      if (message.kind === 'request') this.#posts.delete(message.id);
      else this.#unaccepted--;
      if (isInitializedNotification(message)) this.#gate.open();
    };
    const onFailed = (error: Error): void => {
      if (message.kind === 'request') this.#events.onRequestFailed(message.id, error);
      else this.#events.onWarning?.(error);
      settle();
    };
    return {
      onBody: (response, text) => {
        if (isSuccess(response)) {
          settle();
          // Some servers put the JSON-RPC response into this HTTP response, in addition to the stream or instead of it.
          const reply =
            message.kind === 'request' && text !== '' ? findResponseText(message.id, text) : undefined;
          if (reply !== undefined) this.#events.onMessage(reply);
          return;
        }
        const isSessionLost = response.statusCode === 404;
        const error = new HttpStatusError(response.statusCode ?? 0, response.headers, text, isSessionLost);
        const parsed =
          message.kind === 'request' && !isSessionLost
            ? parseHttpResponse(message.id, response, text)
            : error;
        if (typeof parsed === 'string') this.#events.onMessage(parsed);
        else onFailed(parsed);
        if (isSessionLost) this.fail(error);
      },
      onStream: settle,
      onEvent: () => {},
      onEnd: (error) =>
        onFailed(
          error ??
            new GatewayError(
              'UPSTREAM_CLOSED',
              'The server closed the connection before the end of its response.',
            ),
        ),
    };
  }
}
