import type { IncomingMessage } from 'node:http';

import { SwapRemoveSet } from '../../core/lib/swap-remove-set.ts';
import type { Era } from '../../core/server-facts.ts';
import { isSessionLostResponse } from './parse-http-response.ts';
import { HttpCall } from './http-call.ts';
import type { HttpCallOwner } from './http-call.ts';
import { HttpClientRequest, isSuccess } from './http-client-request.ts';
import type { HttpRequestOptions, HttpResponseHandler } from './http-client-request.ts';
import { buildModernHeaders, readRequestVersion } from './request-headers.ts';
import { HttpListenStream } from './http-listen-stream.ts';
import type { ListenStreamOwner } from './http-listen-stream.ts';
import { ACCEPT_TIMEOUT_MS, HttpOrigin, MAX_UNACCEPTED_MESSAGES, unacceptedError } from './http-origin.ts';
import type { HttpOriginOptions, SocketPool } from './http-origin.ts';
import { InitializedGate, isInitializedNotification } from '../initialized-gate.ts';
import { HttpStatusError } from '../client-transport.ts';
import type { ClientTransport, OutgoingMessage, TransportEvents } from '../client-transport.ts';

interface HttpTransportOptions extends HttpOriginOptions {
  readonly events: TransportEvents;
  readonly random?: () => number;
}

const POST_HEADERS = ['Accept', 'application/json, text/event-stream', 'Content-Type', 'application/json'];
const END_SESSION_TIMEOUT_MS = 1000;

/** Creates a transport for streamable HTTP, in either era. It connects when the first message is sent. */
export function openHttpTransport(options: HttpTransportOptions): ClientTransport {
  return new HttpTransport(options);
}

class HttpTransport implements ClientTransport, HttpCallOwner, ListenStreamOwner {
  readonly events: TransportEvents;
  readonly random: () => number;
  readonly #origin: HttpOrigin;
  readonly #gate: InitializedGate;
  readonly #calls = new SwapRemoveSet<HttpCall>();
  readonly #onMoved = (path: string): void => {
    this.#path = path;
  };
  #path: string;
  #era: Era | undefined;
  #protocol: string | undefined;
  #session: string | undefined;
  #isInitialized = false;
  /** The notifications and responses that the server has not accepted yet. */
  #unaccepted = 0;
  #listenStream: HttpListenStream | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(options: HttpTransportOptions) {
    this.events = options.events;
    this.random = options.random ?? Math.random;
    this.#origin = new HttpOrigin(options);
    this.#path = this.#origin.path;
    this.#gate = new InitializedGate(
      (message) => this.#dispatch(message),
      () => {
        this.#isInitialized = true;
        this.#listenIfReady();
      },
    );
  }

  send(message: OutgoingMessage): void {
    if (!this.#isClosed) return this.#gate.send(message);
    if (message.kind !== 'request') return;
    process.nextTick(() => this.events.onRequestFailed(message.id, new Error('The connection was closed.')));
  }

  abandon(id: number): boolean {
    // A request that has no call has finished already, so the server need not be told.
    return this.#gate.remove(id) || ([...this.#calls].find((call) => call.id === id)?.abandon() ?? true);
  }

  setProtocol(era: Era, protocol: string): void {
    this.#era = era;
    this.#protocol = protocol;
    this.#listenIfReady();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  post(message: OutgoingMessage, handler: HttpResponseHandler): HttpClientRequest {
    return this.#start(
      {
        method: 'POST',
        path: this.#path,
        headers: this.#postHeaders(message),
        body: message.text,
        // `notifications/initialized` reuses the socket of `initialize`; another one would delay the first call.
        socketPool: message.kind === 'request' || isInitializedNotification(message) ? 'call' : 'side',
        onMoved: this.#onMoved,
      },
      handler,
    );
  }

  resume(lastEventId: string, handler: HttpResponseHandler): HttpClientRequest {
    return this.#get('call', lastEventId, handler);
  }

  listen(lastEventId: string | undefined, handler: HttpResponseHandler): HttpClientRequest {
    return this.#get('side', lastEventId, handler);
  }

  onInitialized(response: IncomingMessage): void {
    const session = response.headers['mcp-session-id'];
    if (isSuccess(response) && typeof session === 'string' && session !== '') this.#session = session;
  }

  onFinished(call: HttpCall): void {
    this.#calls.delete(call);
  }

  onSessionLost(error: HttpStatusError): void {
    if (this.#isClosed) return;
    this.#session = undefined;
    this.#disconnect(error);
  }

  #dispatch(message: OutgoingMessage): void {
    if (message.kind !== 'request') return this.#sendOneWay(message);
    const isModern = this.#modernVersion(message) !== undefined;
    const call = new HttpCall(this, message, {
      isModern,
      hasSession: !isModern && this.#session !== undefined,
    });
    this.#calls.add(call);
    call.start();
  }

  /** Sends a notification or a response. Nothing waits for its outcome, but it can reveal that the session is lost. */
  #sendOneWay(message: OutgoingMessage): void {
    if (this.#unaccepted === MAX_UNACCEPTED_MESSAGES) return this.#disconnect(unacceptedError());
    this.#unaccepted++;
    const hasSession = this.#session !== undefined;
    const done = (error: Error | undefined): void => {
      this.#unaccepted--;
      if (error !== undefined) this.events.onWarning?.(error);
      if (isInitializedNotification(message)) this.#gate.open();
    };
    const request = this.post(message, {
      onBody: (response, text) => {
        if (isSuccess(response)) return done(undefined);
        const isLost = hasSession && isSessionLostResponse(undefined, response, text);
        const error = new HttpStatusError(response.statusCode ?? 0, response.headers, text, isLost);
        if (isLost) this.onSessionLost(error);
        else done(error);
      },
      onStream: () => {
        request.destroy();
        done(undefined);
      },
      onEvent: () => {},
      onEnd: done,
    });
    request.failAfter(ACCEPT_TIMEOUT_MS);
  }

  /** Returns the protocol version of a modern message, else undefined. Before the negotiation, the request itself names the version. */
  #modernVersion(message: OutgoingMessage): string | undefined {
    if (this.#era === 'legacy') return undefined;
    return readRequestVersion(message) ?? (this.#era === 'modern' ? this.#protocol : undefined);
  }

  #postHeaders(message: OutgoingMessage): string[] {
    const lines = [...POST_HEADERS, 'Content-Length', String(Buffer.byteLength(message.text))];
    const version = this.#modernVersion(message);
    if (version === undefined) return this.#addLegacyHeaders(lines);
    lines.push(...buildModernHeaders(message, version));
    return lines;
  }

  #addLegacyHeaders(lines: string[]): string[] {
    if (this.#protocol !== undefined) lines.push('MCP-Protocol-Version', this.#protocol);
    if (this.#session !== undefined) lines.push('Mcp-Session-Id', this.#session);
    return lines;
  }

  #get(
    socketPool: SocketPool,
    lastEventId: string | undefined,
    handler: HttpResponseHandler,
  ): HttpClientRequest {
    const headers = this.#addLegacyHeaders(['Accept', 'text/event-stream']);
    if (lastEventId !== undefined && lastEventId !== '') headers.push('Last-Event-ID', lastEventId);
    return this.#start({ method: 'GET', path: this.#path, headers, socketPool }, handler);
  }

  #start(options: HttpRequestOptions, handler: HttpResponseHandler): HttpClientRequest {
    const request = new HttpClientRequest(this.#origin, options, handler);
    request.start();
    return request;
  }

  #listenIfReady(): void {
    const canListen = this.#era === 'legacy' && this.#isInitialized && !this.#isClosed;
    if (!canListen || this.#listenStream !== undefined) return;
    this.#listenStream = new HttpListenStream(this);
    this.#listenStream.start();
  }

  /** Ends the connection without sending `DELETE` for the session. */
  #disconnect(error: Error): void {
    this.#end(error);
    this.#closing = this.#origin.close();
  }

  #end(error: Error): void {
    this.#isClosed = true;
    this.#gate.close();
    this.#listenStream?.stop();
    for (const call of this.#calls) call.stop();
    this.events.onClosed(error);
  }

  async #close(): Promise<void> {
    if (!this.#isClosed) this.#end(new Error('The connection was closed.'));
    this.#origin.destroyOpen();
    if (this.#session !== undefined && this.#era !== 'modern') await this.#endSession();
    await this.#origin.close();
  }

  /** Ends the session at the server. Ignores failures, because the server lets unused sessions expire. */
  #endSession(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, END_SESSION_TIMEOUT_MS);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const handler: HttpResponseHandler = { onBody: done, onStream: done, onEvent: () => {}, onEnd: done };
      this.#start(
        { method: 'DELETE', path: this.#path, headers: this.#addLegacyHeaders([]), socketPool: 'side' },
        handler,
      );
    });
  }
}
