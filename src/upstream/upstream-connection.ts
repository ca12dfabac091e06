import type { UpstreamConfig } from '../config/config.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { Deferred } from '../core/lib/deferred.ts';
import type { Credentials } from '../core/credentials.ts';
import type { Entry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Era } from '../core/server-facts.ts';
import type { Logger } from '../observability/log.ts';
import { withEnvelope } from '../protocol/envelope.ts';
import { buildParamHeaders, HeaderParamCache } from '../protocol/http/param-headers.ts';
import type { RpcClientHandlers, RpcRequestOptions, ReplyHandler } from '../protocol/rpc-client.ts';
import type { ClientIdentity } from './connecting/negotiate.ts';
import { lacksCapabilities } from './declared-capabilities.ts';
import type { OpenedServer, OpenServer, OpenServerOptions } from './server-opener.ts';
import type { IdOwners } from './id-owners.ts';
import { createMessageHandlers } from './server-messages.ts';
import type { ServerMessageOptions } from './server-messages.ts';
import { ConnectionSubscriptions } from './subscriptions.ts';
import { UpstreamCall } from './upstream-call.ts';
import type { RequestOptions, UpstreamRequest } from './upstream-call.ts';

interface UpstreamConnectionOptions extends ServerMessageOptions {
  readonly identity: ClientIdentity;
  readonly era: Era | undefined;
  readonly cancellation: Cancellation;
  readonly credentials?: Credentials | undefined;
  readonly onInstall: NonNullable<OpenServerOptions['onInstall']>;
  /** Called when the client of a call left while a question of the server was open. */
  readonly onClientLeft: (connection: UpstreamConnection) => void;
  /** Called when the server no longer accepts the session or the credentials of the connection. */
  readonly onLost: (connection: UpstreamConnection, error: Error) => void;
  readonly log: Logger;
}

/** One open connection to a server. */
export class UpstreamConnection implements AsyncDisposable {
  readonly name: UpstreamName;
  readonly identity: ClientIdentity;
  readonly idOwners: IdOwners;
  readonly subscriptions = new ConnectionSubscriptions(this);
  readonly #options: UpstreamConnectionOptions;
  readonly #headerParams = new HeaderParamCache();
  #opened!: OpenedServer;
  #declared: JsonObject;
  #hasServed = false;
  #inFlight = 0;
  #drained: Deferred<void> | undefined;
  #closing: Promise<void> | undefined;
  #invalidMessages = 0;

  static async open(
    open: OpenServer,
    config: UpstreamConfig,
    options: UpstreamConnectionOptions,
  ): Promise<UpstreamConnection> {
    const { era, cancellation, credentials, identity, onInstall } = options;
    const connection = new UpstreamConnection(config.name, options);
    const handlers = connection.#handlers();
    // The gateway declares the capabilities that it knows when they are settled, which may be more than now.
    void identity.settled?.then(() => (connection.#declared = identity.capabilities));
    connection.#opened = await open(config, {
      era,
      cancellation,
      credentials,
      identity,
      onInstall,
      handlers,
    });
    return connection;
  }

  private constructor(name: UpstreamName, options: UpstreamConnectionOptions) {
    this.name = name;
    this.identity = options.identity;
    this.#declared = options.identity.capabilities;
    this.idOwners = options.idOwners;
    this.#options = options;
  }

  get opened(): OpenedServer {
    return this.#opened;
  }

  /** Whether the server has answered a call. Losing such a connection does not count as a failed attempt, however short it was. */
  get hasServed(): boolean {
    return this.#hasServed;
  }

  /** Whether these capabilities were not all declared to a legacy server. A new connection would declare them. */
  hasDeclaredTooLittle(capabilities: JsonObject): boolean {
    return this.#opened.facts.era === 'legacy' && lacksCapabilities(this.#declared, capabilities);
  }

  get isClosed(): boolean {
    return this.#opened.client.isClosed;
  }

  /** Sends a request of the gateway itself over this connection; see `UpstreamCall.runOver`. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<Payload> {
    return UpstreamCall.runOver(this, { method, params, options, isCall: false });
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.#opened.client.notify(method, params);
  }

  /** Writes a request in the negotiated era; throws if it cannot be serialized. */
  send({ method, params, options }: UpstreamRequest, reply: ReplyHandler): void {
    const { client, facts } = this.#opened;
    if (facts.era === 'legacy') return client.sendRequest(method, params, options, reply);
    const modernParams = this.#addEnvelope(params, options);
    client.sendRequest(method, modernParams, this.#addHeaders(method, params, options), reply);
  }

  #addEnvelope(params: JsonObject, { requestingClient, capabilities }: RequestOptions): JsonObject {
    return withEnvelope(params, {
      info: this.identity.info,
      capabilities: requestingClient?.capabilities ?? capabilities ?? this.identity.capabilities,
      logLevel: requestingClient?.logLevel,
    });
  }

  #addHeaders(method: string, params: JsonObject, options: RequestOptions): RpcRequestOptions {
    const headers = method === 'tools/call' ? this.#headersFor(options.operation?.entry, params) : undefined;
    return headers === undefined ? options : { ...options, headers };
  }

  #headersFor(entry: Entry | undefined, params: JsonObject): Readonly<Record<string, string>> | undefined {
    if (entry?.kind !== 'tool') return undefined;
    const headerParams = this.#headerParams.get(entry);
    return headerParams.length === 0 ? undefined : buildParamHeaders(headerParams, params['arguments']);
  }

  requestStarted(): void {
    this.#inFlight++;
  }

  /** `hasServed` means that the server answered a call, with a result or an error. */
  requestEnded(hasServed: boolean): void {
    if (hasServed) this.#hasServed = true;
    this.#inFlight--;
    if (this.#inFlight === 0) this.#drained?.resolve();
  }

  reportLost(error: Error): void {
    this.#options.onLost(this, error);
  }

  /** Closes the connection when no request is in flight. */
  async closeWhenDrained(): Promise<void> {
    this.#drained = deferred<void>();
    if (this.#inFlight > 0) await this.#drained.promise;
    await this[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#drained?.resolve();
    this.#closing ??= this.#opened.client[Symbol.asyncDispose]();
    return this.#closing;
  }

  #handlers(): RpcClientHandlers {
    const onClientLeft = (): void => this.#options.onClientLeft(this);
    return {
      ...createMessageHandlers(this.name, this.#options, onClientLeft),
      onInvalidMessage: () => this.#countInvalidMessage(),
    };
  }

  /** Logs the first invalid message and then every thousandth, because a server may flood its output. */
  #countInvalidMessage(): void {
    const ignored = ++this.#invalidMessages;
    if (ignored !== 1 && ignored % 1000 !== 0) return;
    this.#options.log.warn('Ignored output that is not JSON-RPC.', { upstream: this.name, ignored });
  }
}

/** The number of detached connections that may wait for an absent client, in addition to the one that serves new calls. */
const MAX_DETACHED = 4;

/** Tracks connections that accept no new calls, until they are closed. */
export class ClosingConnections {
  readonly #closing = new Map<UpstreamConnection, Promise<void>>();
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  close(connection: UpstreamConnection, when: 'now' | 'when-drained'): void {
    const closing = (when === 'now' ? connection[Symbol.asyncDispose]() : connection.closeWhenDrained())
      .catch((error: unknown) => this.#log.warn('Cannot close a connection.', { reason: String(error) }))
      .finally(() => this.#closing.delete(connection));
    this.#closing.set(connection, closing);
  }

  /** Closes all tracked connections immediately, except the `newest` ones. */
  keepNewest(newest = MAX_DETACHED): void {
    const all = [...this.#closing.keys()];
    for (const connection of all.slice(0, Math.max(0, all.length - newest)))
      void connection[Symbol.asyncDispose]();
  }

  async closeAll(): Promise<void> {
    this.keepNewest(0);
    await Promise.all(this.#closing.values());
  }
}
