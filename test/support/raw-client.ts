import { Inbox } from './inbox.ts';
import { withEnvelope, modernHeaders, rawClientInfo, withMeta } from './modern-envelope.ts';
import {
  type Era,
  type IncomingRequest,
  type JsonObject,
  type ListedTool,
  type Message,
  type MessageId,
  type Notification,
  type RawClientOptions,
  type RequestOptions,
  RpcError,
  type ToolResult,
} from './raw-messages.ts';
import type { RawTransport, SendOptions, Transport } from './raw-transports.ts';
import { scaleDeadline } from './scale-deadline.ts';

/** Answers a request of the peer. */
type Answer = (params: JsonObject) => JsonObject | Promise<JsonObject>;
interface Pending {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/** A minimal MCP client that exposes every sent and received byte. */
export class RawClient implements AsyncDisposable {
  readonly era: Era;
  readonly notifications = new Inbox<Notification>();
  /** Requests of the peer. */
  readonly requests = new Inbox<IncomingRequest>();
  /** Every received message as text. */
  readonly rawLines: string[] = [];
  /** Received texts that are not JSON-RPC messages, or that answer no request. */
  readonly strays = new Inbox<string>();
  readonly #transport: RawTransport;
  readonly #options: RawClientOptions;
  readonly #pending = new Map<string, Pending>();
  readonly #answers = new Map<string, Answer>();
  #nextId = 1;
  #version: string | undefined;

  private constructor(transport: RawTransport, options: RawClientOptions) {
    this.era = options.era ?? 'legacy';
    this.#transport = transport;
    this.#options = options;
  }

  /** Connects a client over a transport, without a handshake. */
  static async over(transport: RawTransport, options: RawClientOptions = {}): Promise<RawClient> {
    const client = new RawClient(transport, options);
    await transport.start(
      (text, status) => client.#take(text, status),
      (error) => client.#lost(error),
    );
    return client;
  }

  get transport(): Transport {
    return this.#transport.kind;
  }

  /** Sends the first request of a client of this era, and returns the result. */
  open(): Promise<JsonObject> {
    return this.era === 'modern' ? this.request('server/discover') : this.initialize();
  }

  async initialize(params: JsonObject = {}): Promise<JsonObject> {
    const { version = '2025-11-25', capabilities = {}, clientInfo = rawClientInfo } = this.#options;
    const result = await this.request('initialize', {
      protocolVersion: version,
      capabilities,
      clientInfo,
      ...params,
    });
    this.#version = String(result['protocolVersion']);
    await this.notify('notifications/initialized');
    return result;
  }

  /** Sends a request and returns its result; rejects with an `RpcError` or an `HttpError`. */
  async request(method: string, params: JsonObject = {}, options: RequestOptions = {}): Promise<JsonObject> {
    const { id = this.#nextId++, withinMs = 30_000, signal } = options;
    const full =
      this.era === 'modern'
        ? withEnvelope(params, this.#options, options.meta)
        : withMeta(params, options.meta);
    const idText = typeof id === 'bigint' ? String(id) : JSON.stringify(id);
    const answer = new Promise<JsonObject>((resolve, reject) =>
      this.#pending.set(idText, { resolve, reject }),
    );
    const text = `{"jsonrpc":"2.0","id":${idText},"method":${JSON.stringify(method)},"params":${JSON.stringify(full)}}`;
    const giveUp = (error: Error): void => this.#pending.get(idText)?.reject(error);
    const late = setTimeout(
      () => giveUp(new Error(`No answer to ${method} within ${withinMs} ms.`)),
      scaleDeadline(withinMs, 'tests'),
    );
    const cancel = (): void => {
      void this.#cancel(id).catch(() => {});
      giveUp(new Error(`${method} was cancelled.`));
    };
    signal?.addEventListener('abort', cancel, { once: true });
    // Only a modern server treats a closed stream as a cancellation; for a legacy server it is a network failure.
    const closing = this.era === 'modern' && signal !== undefined ? { signal } : {};
    const headers = { ...this.#headers(method, full), ...options.headers };
    const sent = this.#transport.send(text, { headers, ...closing });
    const settled = sent.then(
      () => {
        if (this.transport !== 'http') return;
        giveUp(new Error(`The response to ${method} ended without an answer.`));
      },
      (error: unknown) => giveUp(error instanceof Error ? error : new Error(String(error))),
    );
    try {
      return await answer;
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', cancel);
      this.#pending.delete(idText);
      void settled;
    }
  }

  async notify(method: string, params?: JsonObject): Promise<void> {
    const message = { jsonrpc: '2.0', method, ...(params !== undefined && { params }) };
    await this.sendText(JSON.stringify(message), { headers: this.#headers(method, params ?? {}) });
  }

  /** Sends a text unchanged, even if it is not a message. */
  sendText(text: string, options: SendOptions = {}): Promise<void> {
    return this.#transport.send(text, options);
  }

  /** Answers requests of the peer from now on; methods without an answer get -32601. */
  answers(method: string, answer: Answer): void {
    this.#answers.set(method, answer);
  }

  /** Starts to receive notifications, by a stream or a subscription, if the transport and era require it. */
  async listen(uris: readonly string[] = []): Promise<void> {
    if (this.era === 'modern') {
      const wanted = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const notifications = { ...wanted, ...(uris.length > 0 && { resourceSubscriptions: uris }) };
      const acknowledged = this.notifications.next(
        ({ method }) => method === 'notifications/subscriptions/acknowledged',
      );
      // The request stays open until the client is closed.
      void this.request('subscriptions/listen', { notifications }, { withinMs: 600_000 }).catch(() => {});
      await acknowledged;
      return;
    }
    await this.#transport.openStream?.(this.#headers('', {}));
    for (const uri of uris) await this.request('resources/subscribe', { uri });
  }

  /** Returns the tools of all pages. */
  async listTools(): Promise<readonly ListedTool[]> {
    const tools: ListedTool[] = [];
    let cursor: unknown;
    do {
      const page = await this.request('tools/list', cursor === undefined ? {} : { cursor });
      tools.push(...(page['tools'] as ListedTool[]));
      cursor = page['nextCursor'];
    } while (cursor !== undefined);
    return tools;
  }

  async callTool(name: string, args: JsonObject = {}, options: RequestOptions = {}): Promise<ToolResult> {
    return (await this.request('tools/call', { name, arguments: args }, options)) as ToolResult;
  }

  async close(): Promise<void> {
    for (const { reject } of this.#pending.values()) reject(new Error('The client was closed.'));
    this.#pending.clear();
    await this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns whether the message was expected; otherwise the transport may reject the request that it answers. */
  #take(text: string, status = 200): boolean {
    this.rawLines.push(text);
    const message = parse(text);
    if (message === undefined) {
      this.strays.put(text);
    } else if (message.method !== undefined) {
      const { method, params = {}, id } = message;
      if (id === undefined || id === null) this.notifications.put({ method, params });
      else void this.#asked({ method, params, id });
    } else {
      const pending = this.#pendingFor(message, text);
      if (pending === undefined && status >= 300 && message.id === null) return false;
      if (pending === undefined) this.strays.put(text);
      else if (message.error !== undefined) pending.reject(new RpcError(message.error, status));
      else pending.resolve(message.result ?? {});
    }
    return true;
  }

  #pendingFor({ id, error }: Message, text: string): Pending | undefined {
    // A peer that could not parse our message does not know its id. Over HTTP with one request in flight, the answer belongs to that request.
    const isClear = this.transport === 'http' && this.#pending.size === 1;
    if (id === null && error !== undefined && isClear) return this.#settled([...this.#pending.keys()][0]);
    if (typeof id !== 'number' || Number.isSafeInteger(id)) return this.#settled(JSON.stringify(id));
    const ids = [...text.matchAll(/"id"\s*:\s*(-?[\d.eE+]+)/g)].map(([, idText]) => idText);
    return this.#settled(ids.find((idText) => idText !== undefined && this.#pending.has(idText)));
  }

  /** Removed at once, so that a second answer is a stray even in the same turn of the event loop. */
  #settled(idText: string | undefined): Pending | undefined {
    const pending = idText === undefined ? undefined : this.#pending.get(idText);
    if (idText !== undefined) this.#pending.delete(idText);
    return pending;
  }

  async #asked(request: IncomingRequest): Promise<void> {
    this.requests.put(request);
    const { id, method, params } = request;
    const answer: Answer | undefined =
      this.#answers.get(method) ?? (method === 'ping' ? () => ({}) : undefined);
    const reply =
      answer === undefined
        ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
        : { jsonrpc: '2.0', id, result: await answer(params) };
    // Best effort: the peer may be gone.
    await this.sendText(JSON.stringify(reply), { headers: this.#headers('', {}) }).catch(() => {});
  }

  async #cancel(id: MessageId): Promise<void> {
    // For a modern HTTP server the closed stream is the cancellation, and the signal has already closed it.
    if (this.era === 'modern' && this.transport === 'http') return;
    const idText = typeof id === 'bigint' ? String(id) : JSON.stringify(id);
    await this.sendText(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${idText}}}`,
      {
        headers: this.#headers('', {}),
      },
    );
  }

  #lost(error: Error): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }

  #headers(method: string, params: JsonObject): Record<string, string> {
    if (this.transport !== 'http') return {};
    if (this.era === 'modern') return modernHeaders(method, params, this.#options.version);
    return this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version };
  }
}

function parse(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return 'jsonrpc' in value ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}
