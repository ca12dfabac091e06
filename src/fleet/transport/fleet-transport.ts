import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Logger } from '../../observability/log.ts';
import type { Channel, ChannelEvents, ChannelHandler } from '../channel.ts';
import { parseReplicaError, serializeReplicaError } from '../replica-error.ts';
import { connectToReplica } from './connect-to-replica.ts';
import type { OutgoingConnection } from './connect-to-replica.ts';
import type { IncomingHandlers, ReplicaRequestContext } from './incoming-requests.ts';
import { listenForReplicas } from './replica-listener.ts';
import type { ReplicaListener } from './replica-listener.ts';

/**
 * Handles the requests with one subject. The replica that sent the request receives the error that this function throws: a GatewayError or
 * RpcError unchanged, any other error as INVARIANT.
 */
export type ReplicaRequestHandler = (body: JsonObject, context: ReplicaRequestContext) => Promise<JsonObject>;

interface FleetTransportOptions {
  /** The id of this replica. */
  readonly self: string;
  /** The pre-shared key that encrypts the connections between replicas. It is used for nothing else. */
  readonly key: Buffer;
  readonly host: string;
  /** 0 lets the system choose a free port. */
  readonly port: number;
  /** Returns the last known address of a replica, or undefined if the replica is gone or unknown. */
  readonly addressOf: (replica: string) => string | undefined;
  readonly maxMessageBytes: number;
  /** The interval at which both ends of a connection send pings. */
  readonly pingMs?: number;
  readonly log: Logger;
}

export interface ReplicaRequestOptions {
  /** Aborting it also cancels the request at the other replica. */
  readonly signal?: AbortSignal | undefined;
  /** 0 for no timeout. */
  readonly timeoutMs?: number;
}

/** The default timeout of a request. */
const TIMEOUT_MS = 30_000;

/**
 * Carries requests and channels between replicas. Each replica opens one encrypted connection to each replica that it needs, when it sends
 * the first request, and reopens a lost connection for the next request. A request is sent only once: it fails if its connection is lost.
 */
export class FleetTransport implements AsyncDisposable {
  readonly #options: FleetTransportOptions;
  readonly #requestHandlers = new Map<string, ReplicaRequestHandler>();
  /** Outgoing connections by the id of the other replica, including those that are still being opened. */
  readonly #connections = new Map<string, Promise<OutgoingConnection>>();
  #channelHandler: ChannelHandler | undefined;
  #listener: ReplicaListener | undefined;
  #isClosed = false;

  private constructor(options: FleetTransportOptions) {
    this.#options = options;
  }

  /** Starts to listen for other replicas. Connections to them are opened when they are needed. */
  static async listen(options: FleetTransportOptions): Promise<FleetTransport> {
    const transport = new FleetTransport(options);
    const handlers: IncomingHandlers = {
      handleRequest: (subject, body, context) => transport.#handleRequest(subject, body, context),
      acceptChannel: async (request, context) => {
        if (transport.#channelHandler === undefined) throw noHandlerError();
        return transport.#channelHandler(request, context);
      },
    };
    transport.#listener = await listenForReplicas({ ...options, handlers });
    return transport;
  }

  get port(): number {
    return this.#listener?.port ?? 0;
  }

  /** Sends a request to another replica, or to this one, and returns its response. */
  async request(
    replica: string,
    subject: string,
    body: JsonObject,
    { signal, timeoutMs = TIMEOUT_MS }: ReplicaRequestOptions = {},
  ): Promise<JsonObject> {
    if (replica === this.#options.self) return this.#requestSelf(subject, body, signal);
    const { requests } = await this.#connectTo(replica);
    if (signal?.aborted === true) throw cancellationError(signal);
    const abort = new AbortController();
    const onAbort = (): void => abort.abort(cancellationError(signal));
    signal?.addEventListener('abort', onAbort, { once: true });
    const timer =
      timeoutMs > 0 ? setTimeout(() => abort.abort(timeoutError(replica, timeoutMs)), timeoutMs) : undefined;
    try {
      return await requests.send(subject, body, abort.signal);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  /** Sets the handler for requests with this subject until the result is disposed. A subject has one handler at a time. */
  onRequest(subject: string, handler: ReplicaRequestHandler): Disposable {
    if (this.#requestHandlers.has(subject))
      throw new GatewayError('INVARIANT', `Duplicate handler for replica requests: "${subject}".`);
    this.#requestHandlers.set(subject, handler);
    return { [Symbol.dispose]: () => void this.#requestHandlers.delete(subject) };
  }

  /** Opens a channel to another replica; `accepted` is the response of that replica. */
  async openChannel(
    replica: string,
    request: JsonObject,
    events: ChannelEvents,
  ): Promise<{ readonly channel: Channel; readonly accepted: JsonObject }> {
    return (await this.#connectTo(replica)).requests.openChannel(request, events);
  }

  /** Sets the handler for the channels that other replicas open. */
  onChannel(handler: ChannelHandler): void {
    this.#channelHandler = handler;
  }

  /** Closes the connections to replicas that have left the fleet, and fails the requests that are pending on them. */
  closeStaleConnections(): void {
    for (const [replica, connecting] of this.#connections) {
      if (this.#options.addressOf(replica) !== undefined) continue;
      this.#connections.delete(replica);
      // A failed attempt to connect is reported by the request that needs the connection.
      connecting.then(
        ({ connection }) => connection.close(new Error('The other gateway has left the fleet.')),
        () => {},
      );
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#listener?.close();
    const results = await Promise.allSettled(this.#connections.values());
    for (const result of results)
      if (result.status === 'fulfilled') result.value.connection.close(new Error('The gateway is stopping.'));
    this.#connections.clear();
  }

  /** Returns the connection to a replica; opens it if there is none. */
  #connectTo(replica: string): Promise<OutgoingConnection> {
    const existing = this.#connections.get(replica);
    if (existing !== undefined) return existing;
    const { self, key, maxMessageBytes, pingMs, addressOf } = this.#options;
    if (this.#isClosed) return Promise.reject(unsentError(replica, 'this gateway is stopping'));
    const address = addressOf(replica);
    if (address === undefined) return Promise.reject(unsentError(replica, 'that gateway has stopped'));
    // By the time a connection is lost, the map may already contain a newer one to the same replica, which stays.
    const forget = (): void => {
      if (this.#connections.get(replica) === connecting) this.#connections.delete(replica);
    };
    const connecting = connectToReplica({
      from: self,
      to: replica,
      address,
      key,
      maxMessageBytes,
      pingMs,
      onLost: forget,
    }).catch((error: unknown) => {
      forget();
      const detail = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
      throw unsentError(replica, `that gateway cannot be reached at ${address}: ${detail}`, error);
    });
    this.#connections.set(replica, connecting);
    return connecting;
  }

  /** Handles a request to this replica like one over a connection: copies the body, and converts errors in the same way. */
  async #requestSelf(subject: string, body: JsonObject, signal?: AbortSignal): Promise<JsonObject> {
    const context = { from: this.#options.self, signal: signal ?? new AbortController().signal };
    try {
      return await this.#handleRequest(subject, structuredClone(body), context);
    } catch (error) {
      throw parseReplicaError(serializeReplicaError(error));
    }
  }

  async #handleRequest(
    subject: string,
    body: JsonObject,
    context: ReplicaRequestContext,
  ): Promise<JsonObject> {
    const handler = this.#requestHandlers.get(subject);
    if (handler === undefined) throw noHandlerError();
    try {
      return await handler(body, context);
    } catch (error) {
      this.#options.log.debug('A request from another gateway failed.', { subject, reason: String(error) });
      throw error;
    }
  }
}

function unsentError(replica: string, reason: string, cause?: unknown): GatewayError {
  const text = `The request to gateway ${replica} of this fleet was not sent, because ${reason}.`;
  return new GatewayError('REPLICA_AWAY', text, { cause, details: { replica, isUnsent: true } });
}

function timeoutError(replica: string, ms: number): GatewayError {
  const text = `The gateway ${replica} of this fleet did not respond within ${ms / 1000} s.`;
  return new GatewayError('REPLICA_AWAY', text, { details: { replica } });
}

/** The replica that sent the request receives this message, so "the other gateway" means this one. */
function noHandlerError(): GatewayError {
  const text =
    'The other gateway does not handle this request. It may be starting, stopping, or running another version.';
  return new GatewayError('REPLICA_AWAY', text);
}

function cancellationError(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  if (reason instanceof GatewayError) return reason;
  return new GatewayError('CALL_CANCELLED', 'The request to another gateway was cancelled.');
}
