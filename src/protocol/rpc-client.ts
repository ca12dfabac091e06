import { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import { IdTable } from '../core/lib/id-table.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import { GatewayError, RpcError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';
import {
  parseMessage,
  serializeError,
  serializeNotification,
  serializeRequest,
  serializeResult,
} from './rpc-message.ts';
import type { RequestId, RpcMessage } from './rpc-message.ts';
import { Payload } from '../core/lib/payload.ts';
import type { RawMessage } from './stdio/line-reader.ts';
import type { ClientTransport, OpenTransport, TransportEvents } from './client-transport.ts';

/** The `params` of a progress notification, with the token that its receiver knows. */
export type ProgressParams = JsonObject;

/** The clients that a message of a server may concern. On a shared pipe, servers do not name the request that a message belongs to. */
export interface MessageOrigin {
  /** The client of the request on whose own HTTP stream the message arrived; undefined for other messages. */
  readonly streamClient: RequestingClient | undefined;
  /** The clients of all requests that have no response yet, oldest first. */
  readonly pendingClients: readonly RequestingClient[];
  /** The clients of recently cancelled requests, on which the server may still be working. */
  readonly abandonedClients: readonly RequestingClient[];
}

export interface RpcClientHandlers {
  /** Handles a request of the server; a thrown RpcError becomes the response. `cancellation` is cancelled if the server cancels it. */
  onRequest(
    method: string,
    params: JsonObject | undefined,
    context: { readonly origin: MessageOrigin; readonly cancellation: Cancellation },
  ): Promise<JsonObject>;
  onNotification(method: string, params: JsonObject | undefined, origin: MessageOrigin): void;
  /** Called with text that is not a JSON-RPC message and was ignored. */
  onInvalidMessage(text: string): void;
}

export interface RpcRequestOptions {
  readonly cancellation?: Cancellation;
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined;
  readonly requestingClient?: RequestingClient | undefined;
  /** Additional headers for a request over HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Receives the outcome of a request, once. It replaces a promise, which would cost more per call. */
export interface ReplyHandler {
  onResult(payload: Payload): void;
  onError(error: unknown): void;
}

interface PendingRequest {
  readonly reply: ReplyHandler;
  readonly onProgress: ((progress: ProgressParams) => void) | undefined;
  readonly cancellation: Cancellation | undefined;
  readonly onCancel: ((reason: Error) => void) | undefined;
  readonly requestingClient: RequestingClient | undefined;
}

interface AbandonedRequest {
  readonly requestingClient: RequestingClient;
  /** The time at which the request is forgotten, by `performance.now()`. */
  readonly until: number;
}

/** Time in which a server may still send messages about an abandoned request; servers do not report when they stop working on it. */
const ABANDONED_MS = 10_000;
/** The maximum number of server requests that are handled at a time; a person answers them one after the other anyway. */
const MAX_HANDLED = 256;
/** The maximum total length of these requests, which stay in memory until they are answered; a single one may be longer. */
const MAX_HANDLED_LENGTH = 32 * 1024 * 1024;
const TOO_MANY_REQUESTS = {
  code: -32603,
  message: `More than ${MAX_HANDLED} requests of this server, or more than 32 MiB of them, are open. Wait for a response before sending another one.`,
};
/** Beyond this number, the oldest abandoned requests are forgotten. */
const MAX_ABANDONED = 256;

/** Sends requests to one server over a transport, and matches responses, progress and cancellation to them. */
export class RpcClient implements AsyncDisposable {
  readonly #handlers: RpcClientHandlers;
  readonly #pending = new IdTable<PendingRequest>();
  readonly #abandoned = new Map<number, AbandonedRequest>();
  /** The server requests that are being handled, by id. */
  readonly #handling = new Map<RequestId, Cancellation>();
  /** The number of server requests that are being handled; it exceeds the size of the map if a server reuses an id. */
  #handled = 0;
  #handledLength = 0;
  readonly #closed = deferred<Error>();
  #transport: ClientTransport | undefined;
  #closedBy: Error | undefined;

  static async open(openTransport: OpenTransport, handlers: RpcClientHandlers): Promise<RpcClient> {
    const client = new RpcClient(handlers);
    client.#transport = await openTransport(client.#events());
    return client;
  }

  private constructor(handlers: RpcClientHandlers) {
    this.#handlers = handlers;
  }

  /** Resolves with the reason when the transport is closed. */
  get closed(): Promise<Error> {
    return this.#closed.promise;
  }

  get isClosed(): boolean {
    return this.#closedBy !== undefined;
  }

  request(method: string, params: JsonObject | undefined, options: RpcRequestOptions = {}): Promise<Payload> {
    return new Promise<Payload>((onResult, onError) => {
      this.sendRequest(method, params, options, { onResult, onError });
    });
  }

  /** Sends a request and passes its outcome to `reply`. Throws if the request cannot be serialized. */
  sendRequest(
    method: string,
    params: JsonObject | undefined,
    options: RpcRequestOptions,
    reply: ReplyHandler,
  ): void {
    if (this.#closedBy !== undefined) return reply.onError(this.#closedBy);
    const { cancellation, onProgress, requestingClient, headers } = options;
    if (cancellation?.reason !== undefined) return reply.onError(cancellation.reason);
    const id = this.#pending.assignId();
    const sentParams = onProgress === undefined ? params : withProgressToken(params, id);
    // The request is serialized before anything is stored, because this throws for params that are nested too deeply.
    const text = serializeRequest(id, method, sentParams);
    const onCancel =
      cancellation === undefined ? undefined : (reason: Error) => this.#cancel(id, method, reason);
    if (onCancel !== undefined) cancellation?.onCancel(onCancel);
    this.#pending.set(id, { reply, onProgress, cancellation, onCancel, requestingClient });
    this.#transport?.send({
      kind: 'request',
      id,
      method,
      params: sentParams,
      text,
      requestingClient,
      headers,
    });
  }

  notify(method: string, params?: JsonObject): void {
    if (this.#closedBy !== undefined) return;
    this.#transport?.send({ kind: 'notification', method, text: serializeNotification(method, params) });
  }

  setProtocol(era: Era, protocol: string): void {
    this.#transport?.setProtocol(era, protocol);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end(new Error('The connection was closed.'));
    await this.#transport?.close();
  }

  #events(): TransportEvents {
    return {
      onMessage: (text, request) => this.#receive(text, request),
      onRequestFailed: (id, error) => this.#settle(id)?.reply.onError(error),
      onClosed: (error) => {
        this.#end(error);
        this.#closed.resolve(error);
      },
    };
  }

  #receive(raw: RawMessage, request: number | undefined): void {
    // Before the transport is open nothing has been sent, so no request can wait for this message.
    if (this.#transport === undefined) return;
    const parsed = parseMessage(raw);
    if (parsed.kind === 'batch') {
      const length = Math.ceil(raw.length / parsed.messages.length);
      for (const message of parsed.messages) this.#handle(message, { raw, length }, request);
    } else if (parsed.kind === 'garbage') this.#handlers.onInvalidMessage(raw.toString());
    else this.#handle(parsed, { raw, length: raw.length }, request);
  }

  #handle(
    message: RpcMessage,
    { raw, length }: { readonly raw: RawMessage; readonly length: number },
    request: number | undefined,
  ): void {
    switch (message.kind) {
      case 'result':
        return this.#settle(message.id)?.reply.onResult(message.payload);
      case 'error':
        return this.#settle(message.id)?.reply.onError(new RpcError(message.error));
      case 'notification':
        if (message.method === 'notifications/progress') return this.#deliverProgress(message.params);
        if (message.method === 'notifications/cancelled') this.#cancelHandling(message.params);
        return this.#handlers.onNotification(message.method, message.params, this.#origin(request));
      case 'request':
        void this.#respond(message, length, request);
        return;
      case 'invalid':
        return this.#handlers.onInvalidMessage(raw.toString());
    }
  }

  /** Runs synchronously, because progress that arrives in the same chunk as its response must be delivered first. */
  #deliverProgress(params: JsonObject | undefined): void {
    const token = toRequestNumber(params?.['progressToken']);
    if (params !== undefined && token !== undefined) this.#pending.get(token)?.onProgress?.(params);
  }

  async #respond(
    { id, method, params }: RpcMessage & { kind: 'request' },
    length: number,
    request: number | undefined,
  ): Promise<void> {
    const cancellation = new Cancellation();
    this.#handling.set(id, cancellation);
    this.#handled++;
    this.#handledLength += length;
    let text: string;
    try {
      const isLarge = this.#handledLength > MAX_HANDLED_LENGTH && this.#handledLength > length;
      if (this.#handled > MAX_HANDLED || isLarge) throw new RpcError(TOO_MANY_REQUESTS);
      const context = { origin: this.#origin(request), cancellation };
      const result = method === 'ping' ? {} : await this.#handlers.onRequest(method, params, context);
      text = serializeResult(id, Payload.of(result));
    } catch (error) {
      const body = error instanceof RpcError ? error.body : { code: -32603, message: 'The request failed.' };
      text = serializeError(id, body);
    }
    this.#handled--;
    this.#handledLength -= length;
    // A server that reuses an id may have replaced the entry.
    if (this.#handling.get(id) === cancellation) this.#handling.delete(id);
    // A request that the server has cancelled gets no response.
    if (this.#closedBy === undefined && cancellation.reason === undefined)
      this.#transport?.send({ kind: 'response', text });
  }

  #cancelHandling(params: JsonObject | undefined): void {
    const id = params?.['requestId'];
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const reason = new GatewayError('CALL_CANCELLED', 'The server cancelled its request.');
    this.#handling.get(id)?.cancel(reason);
  }

  #origin(request: number | undefined): MessageOrigin {
    const pendingClients: RequestingClient[] = [];
    // A message on the stream of a request can concern no other client.
    if (request !== undefined) {
      const streamClient = this.#pending.get(request)?.requestingClient;
      return { streamClient, pendingClients, abandonedClients: [] };
    }
    for (const [, { requestingClient }] of this.#pending.entries())
      if (requestingClient !== undefined) pendingClients.push(requestingClient);
    return { streamClient: undefined, pendingClients, abandonedClients: this.#abandonedClients() };
  }

  #abandonedClients(): readonly RequestingClient[] {
    if (this.#abandoned.size === 0) return [];
    const now = performance.now();
    const recent = [...this.#abandoned.values()].filter(({ until }) => until > now);
    return recent.map(({ requestingClient }) => requestingClient);
  }

  /** Removes and returns a pending request that has ended; undefined if no such request is pending. */
  #settle(id: RequestId | null): PendingRequest | undefined {
    const key = toRequestNumber(id);
    if (key === undefined) return undefined;
    const pending = this.#pending.get(key);
    if (pending === undefined) {
      // A late response: the server has finished an abandoned request after all.
      this.#abandoned.delete(key);
      return undefined;
    }
    this.#pending.delete(key);
    if (pending.onCancel !== undefined) pending.cancellation?.offCancel(pending.onCancel);
    return pending;
  }

  #cancel(id: number, method: string, reason: Error): void {
    const pending = this.#settle(id);
    if (pending === undefined) return;
    pending.reply.onError(reason);
    if (pending.requestingClient !== undefined) this.#addAbandoned(id, pending.requestingClient);
    // The protocol forbids cancelling `initialize`; the owner of the client closes the connection instead.
    if (this.#transport?.abandon(id) === true || method === 'initialize') return;
    this.notify('notifications/cancelled', { requestId: id, reason: reason.message });
  }

  #addAbandoned(id: number, requestingClient: RequestingClient): void {
    const now = performance.now();
    // The map is in insertion order. The loop removes expired requests, and the oldest one if the limit is reached.
    for (const [oldest, { until }] of this.#abandoned) {
      if (until > now && this.#abandoned.size < MAX_ABANDONED) break;
      this.#abandoned.delete(oldest);
    }
    this.#abandoned.set(id, { requestingClient, until: now + ABANDONED_MS });
  }

  #end(error: Error): void {
    if (this.#closedBy !== undefined) return;
    this.#closedBy = error;
    for (const [id] of this.#pending.entries()) this.#settle(id)?.reply.onError(error);
    for (const cancellation of this.#handling.values()) cancellation.cancel(error);
  }
}

/** Returns an id as a number, because some servers send numeric ids back as strings. 15 digits are always exact. */
function toRequestNumber(id: unknown): number | undefined {
  if (typeof id === 'string' && /^[1-9]\d{0,14}$/.test(id)) return Number(id);
  return typeof id === 'number' ? id : undefined;
}

function withProgressToken(params: JsonObject | undefined, token: number): JsonObject {
  const meta = params?.['_meta'];
  return { ...params, _meta: { ...(typeof meta === 'object' ? meta : {}), progressToken: token } };
}
