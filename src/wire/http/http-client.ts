import type { IncomingMessage } from 'node:http';

import { Crowd } from '../../lib/crowd.ts';
import type { Era } from '../../model/server-facts.ts';
import { isSessionGone } from './http-answer.ts';
import { HttpCall } from './http-call.ts';
import type { CallOwner } from './http-call.ts';
import { HttpExchange, isSuccess } from './http-exchange.ts';
import type { ExchangeRequest, Receiver } from './http-exchange.ts';
import { modernHeaders, namedVersion } from './http-headers.ts';
import { HttpListener } from './http-listener.ts';
import type { ListenerOwner } from './http-listener.ts';
import { HttpOrigin } from './http-origin.ts';
import type { HttpOriginOptions } from './http-origin.ts';
import { InitializedGate, isHandshake } from '../initialized-gate.ts';
import { HttpStatusError } from '../stream.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../stream.ts';

interface HttpStreamOptions extends HttpOriginOptions {
  readonly events: StreamEvents;
  readonly random?: () => number;
}

const POST_HEADERS = ['Accept', 'application/json, text/event-stream', 'Content-Type', 'application/json'];
const GOODBYE_MS = 1000;

/** Streamable HTTP in both eras; nothing is sent before the first message. */
export function openHttpStream(options: HttpStreamOptions): MessageStream {
  return new HttpStream(options);
}

class HttpStream implements MessageStream, CallOwner, ListenerOwner {
  readonly events: StreamEvents;
  readonly random: () => number;
  readonly #origin: HttpOrigin;
  readonly #gate: InitializedGate;
  readonly #calls = new Crowd<HttpCall>();
  readonly #moved = (path: string): void => {
    this.#path = path;
  };
  #path: string;
  #era: Era | undefined;
  #protocol: string | undefined;
  #session: string | undefined;
  #isInitialized = false;
  #listener: HttpListener | undefined;
  #isClosed = false;
  #closing: Promise<void> | undefined;

  constructor(options: HttpStreamOptions) {
    this.events = options.events;
    this.random = options.random ?? Math.random;
    this.#origin = new HttpOrigin(options);
    this.#path = this.#origin.path;
    this.#gate = new InitializedGate(
      (message) => this.#sendNow(message),
      () => {
        this.#isInitialized = true;
        this.#listenIfOffered();
      },
    );
  }

  send(message: Outgoing): void {
    if (!this.#isClosed) return this.#gate.pass(message);
    if (message.kind !== 'request') return;
    process.nextTick(() => this.events.failed(message.id, new Error('The connection was closed.')));
  }

  abandon(id: number): boolean {
    return this.#gate.forget(id) || ([...this.#calls].find((call) => call.id === id)?.abandon() ?? true);
  }

  negotiated(era: Era, protocol: string): void {
    this.#era = era;
    this.#protocol = protocol;
    this.#listenIfOffered();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  post(message: Outgoing, receiver: Receiver): HttpExchange {
    return this.#exchange(
      {
        method: 'POST',
        path: this.#path,
        headers: this.#postHeaders(message),
        body: message.text,
        // The socket of `initialize` is free by then; another would cost a connection before the first call.
        lane: message.kind === 'request' || isHandshake(message) ? 'call' : 'side',
        moved: this.#moved,
      },
      receiver,
    );
  }

  resume(lastEventId: string, receiver: Receiver): HttpExchange {
    return this.#get('call', lastEventId, receiver);
  }

  listen(lastEventId: string | undefined, receiver: Receiver): HttpExchange {
    return this.#get('side', lastEventId, receiver);
  }

  initialized(answer: IncomingMessage): void {
    const session = answer.headers['mcp-session-id'];
    if (isSuccess(answer) && typeof session === 'string' && session !== '') this.#session = session;
  }

  finished(call: HttpCall): void {
    this.#calls.delete(call);
  }

  sessionLost(error: HttpStatusError): void {
    if (this.#isClosed) return;
    this.#session = undefined;
    this.#end(error);
    this.#closing = this.#origin.close();
  }

  #sendNow(message: Outgoing): void {
    if (message.kind !== 'request') return this.#sendAside(message);
    const isModern = this.#modernVersion(message) !== undefined;
    const call = new HttpCall(this, message, {
      isModern,
      hasSession: !isModern && this.#session !== undefined,
    });
    this.#calls.add(call);
    call.start();
  }

  /** Of a notification or an answer nobody hears anything back, but a lost session shows here too. */
  #sendAside(message: Outgoing): void {
    const hasSession = this.#session !== undefined;
    const done = (error: Error | undefined): void => {
      if (error !== undefined) this.events.trouble?.(error);
      if (isHandshake(message)) this.#gate.open();
    };
    const exchange = this.post(message, {
      body: (answer, text) => {
        if (isSuccess(answer)) return done(undefined);
        const isGone = hasSession && isSessionGone(undefined, answer, text);
        const error = new HttpStatusError(answer.statusCode ?? 0, answer.headers, text, isGone);
        if (isGone) this.sessionLost(error);
        else done(error);
      },
      opened: () => {
        exchange.destroy();
        done(undefined);
      },
      event: () => {},
      ended: done,
    });
  }

  /** Before the era is known the request itself says which it belongs to. */
  #modernVersion(message: Outgoing): string | undefined {
    if (this.#era === 'legacy') return undefined;
    return namedVersion(message) ?? (this.#era === 'modern' ? this.#protocol : undefined);
  }

  #postHeaders(message: Outgoing): string[] {
    const lines = [...POST_HEADERS, 'Content-Length', String(Buffer.byteLength(message.text))];
    const version = this.#modernVersion(message);
    if (version === undefined) return this.#addLegacy(lines);
    lines.push(...modernHeaders(message, version));
    return lines;
  }

  #addLegacy(lines: string[]): string[] {
    if (this.#protocol !== undefined) lines.push('MCP-Protocol-Version', this.#protocol);
    if (this.#session !== undefined) lines.push('Mcp-Session-Id', this.#session);
    return lines;
  }

  #get(lane: 'call' | 'side', lastEventId: string | undefined, receiver: Receiver): HttpExchange {
    const headers = this.#addLegacy(['Accept', 'text/event-stream']);
    if (lastEventId !== undefined && lastEventId !== '') headers.push('Last-Event-ID', lastEventId);
    return this.#exchange({ method: 'GET', path: this.#path, headers, lane }, receiver);
  }

  #exchange(request: ExchangeRequest, receiver: Receiver): HttpExchange {
    const exchange = new HttpExchange(this.#origin, request, receiver);
    exchange.start();
    return exchange;
  }

  #listenIfOffered(): void {
    const isDue = this.#era === 'legacy' && this.#isInitialized && !this.#isClosed;
    if (!isDue || this.#listener !== undefined) return;
    this.#listener = new HttpListener(this);
    this.#listener.start();
  }

  #end(error: Error): void {
    this.#isClosed = true;
    this.#gate.close();
    this.#listener?.stop();
    for (const call of this.#calls) call.stop();
    this.events.closed(error);
  }

  async #close(): Promise<void> {
    if (!this.#isClosed) this.#end(new Error('The connection was closed.'));
    this.#origin.destroyOpen();
    if (this.#session !== undefined && this.#era !== 'modern') await this.#sayGoodbye();
    await this.#origin.close();
  }

  /** Best effort: a server that does not listen will forget the session by itself. */
  #sayGoodbye(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, GOODBYE_MS);
      const done = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const receiver: Receiver = { body: done, opened: done, event: () => {}, ended: done };
      this.#exchange(
        { method: 'DELETE', path: this.#path, headers: this.#addLegacy([]), lane: 'side' },
        receiver,
      );
    });
  }
}
