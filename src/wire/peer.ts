import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import { Numbered } from '../lib/numbered.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { errorText, notificationText, parseMessage, requestText, resultText } from './message.ts';
import type { Message, RequestId } from './message.ts';
import { Payload } from '../lib/payload.ts';
import type { Line } from './stdio/frame-lines.ts';
import type { MessageStream, StreamEvents } from './stream.ts';

/** `params` of a progress notification, with the token that its receiver knows. */
export type Progress = JsonObject;

/** Of which of our requests a message may speak; servers on one stream do not say it. */
export interface Origin {
  /** Of the request on whose own stream the message came. */
  readonly own: ClientBehind | undefined;
  /** Of all requests that wait for their answer, oldest first. */
  readonly waiting: readonly ClientBehind[];
  /** Of requests that we gave up a while ago: the server may not have heard of it, or not care. */
  readonly givenUp: readonly ClientBehind[];
}

export interface PeerHandlers {
  /** Answers a request of the server; throwing an RpcError answers with that error. Cancelled when the server gives up. */
  request(
    method: string,
    params: JsonObject | undefined,
    about: { readonly origin: Origin; readonly cancellation: Cancellation },
  ): Promise<JsonObject>;
  notification(method: string, params: JsonObject | undefined, origin: Origin): void;
  /** Something came that is no message; it was skipped. */
  garbage(text: string): void;
}

export interface PeerRequestOptions {
  readonly cancellation?: Cancellation;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly behind?: ClientBehind | undefined;
  /** Further headers, where the request travels over HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Who is told how a request ended, once; without a promise for each of those that want to know. */
export interface Reply {
  answered(payload: Payload): void;
  failed(error: unknown): void;
}

interface Pending {
  readonly reply: Reply;
  readonly onProgress: ((progress: Progress) => void) | undefined;
  readonly cancellation: Cancellation | undefined;
  readonly onCancel: ((reason: Error) => void) | undefined;
  readonly behind: ClientBehind | undefined;
}

/** How long a server may still speak of a call that we gave up; it tells nobody when it is done with it. */
const GIVEN_UP_MS = 10_000;
/** More are forgotten, the oldest first. */
const MAX_GIVEN_UP = 256;

interface GivenUp {
  readonly behind: ClientBehind;
  readonly until: number;
}

/** The client's end of a conversation with one server: matches answers, progress and cancellation to requests. */
export class Peer implements AsyncDisposable {
  readonly closed: Promise<Error>;
  readonly #stream: MessageStream;
  readonly #handlers: PeerHandlers;
  readonly #pending = new Numbered<Pending>();
  readonly #givenUp = new Map<number, GivenUp>();
  readonly #answering = new Map<RequestId, Cancellation>();
  #closedBy: Error | undefined;

  private constructor(stream: MessageStream, handlers: PeerHandlers, closed: Promise<Error>) {
    this.#stream = stream;
    this.#handlers = handlers;
    this.closed = closed;
  }

  /** `open` gets the events that the stream must feed. */
  static async over(
    open: (events: StreamEvents) => Promise<MessageStream>,
    handlers: PeerHandlers,
  ): Promise<Peer> {
    const closed = deferred<Error>();
    const made: { peer?: Peer } = {};
    let closedEarly: Error | undefined;
    const stream = await open({
      message: (text, request) => made.peer?.receive(text, request),
      failed: (id, error) => made.peer?.fail(id, error),
      closed: (error) => {
        closedEarly = error;
        made.peer?.end(error);
        closed.resolve(error);
      },
    });
    const peer = new Peer(stream, handlers, closed.promise);
    made.peer = peer;
    if (closedEarly !== undefined) peer.end(closedEarly);
    return peer;
  }

  request(
    method: string,
    params: JsonObject | undefined,
    options: PeerRequestOptions = {},
  ): Promise<Payload> {
    return new Promise<Payload>((answered, failed) => {
      this.ask(method, params, options, { answered, failed });
    });
  }

  /** Throws what cannot be written. */
  ask(method: string, params: JsonObject | undefined, options: PeerRequestOptions, reply: Reply): void {
    if (this.#closedBy !== undefined) return reply.failed(this.#closedBy);
    const { cancellation, onProgress, behind, headers } = options;
    if (cancellation?.reason !== undefined) return reply.failed(cancellation.reason);
    const id = this.#pending.next();
    const sent = onProgress === undefined ? params : withProgressToken(params, id);
    // Before anything is remembered: what is nested too deeply can be read, but not written.
    const text = requestText(id, method, sent);
    const onCancel =
      cancellation === undefined ? undefined : (reason: Error) => this.#cancel(id, method, reason);
    if (onCancel !== undefined) cancellation?.onCancel(onCancel);
    this.#pending.set(id, { reply, onProgress, cancellation, onCancel, behind });
    this.#stream.send({
      kind: 'request',
      id,
      method,
      params: sent,
      text,
      behind,
      ...(headers && { headers }),
    });
  }

  notify(method: string, params?: JsonObject): void {
    if (this.#closedBy !== undefined) return;
    this.#stream.send({ kind: 'notification', method, text: notificationText(method, params) });
  }

  negotiated(era: Era, protocol: string): void {
    this.#stream.negotiated(era, protocol);
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.end(new Error('The connection was closed.'));
    return this.#stream.close();
  }

  private receive(line: Line, request: number | undefined): void {
    const parsed = parseMessage(line);
    if (parsed.kind === 'batch') for (const message of parsed.messages) this.#take(message, line, request);
    else if (parsed.kind === 'garbage') this.#handlers.garbage(line.toString());
    else this.#take(parsed, line, request);
  }

  #take(message: Message, line: Line, request: number | undefined): void {
    switch (message.kind) {
      case 'result':
        return this.#settle(message.id)?.reply.answered(message.payload);
      case 'error':
        return this.#settle(message.id)?.reply.failed(new RpcError(message.error));
      case 'notification':
        if (message.method === 'notifications/progress') return this.#progress(message.params);
        if (message.method === 'notifications/cancelled') this.#giveUp(message.params);
        return this.#handlers.notification(message.method, message.params, this.#origin(request));
      case 'request':
        void this.#answer(message, request);
        return;
      case 'invalid':
        return this.#handlers.garbage(line.toString());
    }
  }

  /** Synchronous, so that progress which arrives together with its answer still comes first. */
  #progress(params: JsonObject | undefined): void {
    const token = ownId(params?.['progressToken']);
    if (params !== undefined && token !== undefined) this.#pending.get(token)?.onProgress?.(params);
  }

  async #answer(message: Message & { kind: 'request' }, request: number | undefined): Promise<void> {
    const { id, method, params } = message;
    const cancellation = new Cancellation();
    this.#answering.set(id, cancellation);
    let text: string;
    try {
      const about = { origin: this.#origin(request), cancellation };
      const result = method === 'ping' ? {} : await this.#handlers.request(method, params, about);
      text = resultText(id, Payload.of(result));
    } catch (error) {
      const body = error instanceof RpcError ? error.body : { code: -32603, message: 'The request failed.' };
      text = errorText(id, body);
    }
    if (this.#answering.get(id) === cancellation) this.#answering.delete(id);
    // A request that its server gave up gets no answer.
    if (this.#closedBy === undefined && cancellation.reason === undefined)
      this.#stream.send({ kind: 'answer', text });
  }

  #giveUp(params: JsonObject | undefined): void {
    const id = params?.['requestId'];
    if (typeof id !== 'string' && typeof id !== 'number') return;
    this.#answering
      .get(id)
      ?.cancel(new GatewayError('CALL_CANCELLED', 'The server no longer wants to know.'));
  }

  #origin(request: number | undefined): Origin {
    const waiting: ClientBehind[] = [];
    // What comes on the stream of a request is of that one or of nobody.
    if (request !== undefined) return { own: this.#pending.get(request)?.behind, waiting, givenUp: [] };
    for (const [, { behind }] of this.#pending.entries()) if (behind !== undefined) waiting.push(behind);
    if (this.#givenUp.size === 0) return { own: undefined, waiting, givenUp: [] };
    const now = performance.now();
    const givenUp = [...this.#givenUp.values()].filter(({ until }) => until > now);
    return { own: undefined, waiting, givenUp: givenUp.map(({ behind }) => behind) };
  }

  #rememberGivenUp(id: number, behind: ClientBehind): void {
    const now = performance.now();
    for (const [known, { until }] of this.#givenUp) {
      if (until > now && this.#givenUp.size < MAX_GIVEN_UP) break;
      this.#givenUp.delete(known);
    }
    this.#givenUp.set(id, { behind, until: now + GIVEN_UP_MS });
  }

  #settle(id: RequestId | null): Pending | undefined {
    const key = ownId(id);
    const pending = key === undefined ? undefined : this.#pending.get(key);
    if (key === undefined) return undefined;
    if (pending === undefined) {
      // A late answer: the server is done with it after all.
      this.#givenUp.delete(key);
      return undefined;
    }
    this.#pending.delete(key);
    if (pending.onCancel !== undefined) pending.cancellation?.offCancel(pending.onCancel);
    return pending;
  }

  #cancel(id: number, method: string, reason: Error): void {
    const pending = this.#settle(id);
    if (pending === undefined) return;
    pending.reply.failed(reason);
    if (pending.behind !== undefined) this.#rememberGivenUp(id, pending.behind);
    // The protocol forbids to cancel `initialize`; whoever gives that up closes the connection.
    if (this.#stream.abandon(id) || method === 'initialize') return;
    this.notify('notifications/cancelled', { requestId: id, reason: reason.message });
  }

  private fail(id: number, error: Error): void {
    this.#settle(id)?.reply.failed(error);
  }

  private end(error: Error): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = error;
    for (const [id] of this.#pending.entries()) this.#settle(id)?.reply.failed(error);
    for (const cancellation of this.#answering.values()) cancellation.cancel(error);
  }
}

/** Some servers give numbers back as text. */
function ownId(id: unknown): number | undefined {
  if (typeof id === 'string' && /^[1-9]\d{0,14}$/.test(id)) return Number(id);
  return typeof id === 'number' ? id : undefined;
}

function withProgressToken(params: JsonObject | undefined, token: number): JsonObject {
  const meta = params?.['_meta'];
  return { ...params, _meta: { ...(typeof meta === 'object' ? meta : {}), progressToken: token } };
}
