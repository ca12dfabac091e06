import { rejectOnCancel } from '../core/lib/cancellation.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import type { Entry } from '../core/entry.ts';
import { GatewayError, RpcError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { ProgressParams, ReplyHandler } from '../protocol/rpc-client.ts';
import { UnexpectedResponseError } from '../protocol/client-transport.ts';
import {
  classifyConnectionLoss,
  classifyRequestError,
  classifyRpcError,
  isSessionLost,
} from './connecting/upstream-errors.ts';
import type { UpstreamConnection } from './upstream-connection.ts';
import type { PendingRequests, QueueTurn } from './pending-requests.ts';
import { nameServerInError, nameServerInResult } from './question-origin.ts';
import { handleRefusal } from './upstream-auth.ts';

export interface RequestOptions {
  readonly cancellation: Cancellation;
  readonly onProgress?: ((progress: ProgressParams) => void) | undefined;
  /** The client that the server may ask while it works on the request. */
  readonly requestingClient?: RequestingClient | undefined;
  /** The capabilities to declare to a modern server for a request without a client. */
  readonly capabilities?: JsonObject;
  /** The catalog entry that is called, if it is known. */
  readonly operation?: { readonly entry?: Entry | undefined };
}

export interface UpstreamRequest {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
  /** Whether a client sent the request; the gateway itself sends listings and subscriptions. */
  readonly isCall: boolean;
}

/** The upstream that a call belongs to. */
export interface UpstreamCallOwner {
  readonly pending: PendingRequests;
  /** Returns the open connection, if there is one. */
  connection(): UpstreamConnection | undefined;
  /** Opens a connection, or waits for the attempt that is under way. */
  connect(): Promise<UpstreamConnection>;
  /** Called when a request is written to a connection, and again when it is repeated on another one. */
  requestStarted(): void;
  requestEnded(): void;
}

/**
 * One request to a server, until its outcome is known. The stages, in the order of the methods below:
 *
 * 1. Wait for a turn, if the server takes one call at a time, and for a connection, if there is none.
 * 2. Send the request over the connection; it counts as in flight from here on.
 * 3. On a result: resolve.
 * 4. On an HTTP 401 or 403: let the credentials handle it, and send the request again if they have a new token.
 * 5. On a lost session or an unsent request: repeat it once on a new connection, because the server has not executed it.
 * 6. On any other error: reject with an error that names the server. A request that the server may have executed is never repeated.
 *
 * This code runs for every `tools/call`, so a call is one object and one promise, without closures per stage.
 */
export class UpstreamCall implements ReplyHandler {
  readonly #request: UpstreamRequest;
  /** Absent for a request that is bound to one connection; see `runOver`. */
  readonly #owner: UpstreamCallOwner | undefined;
  readonly #resolve: (payload: Payload) => void;
  readonly #reject: (error: unknown) => void;
  #turn: QueueTurn | undefined;
  /** The connection of the current attempt; `#sendOver` sets it before anything is sent. */
  #connection!: UpstreamConnection;
  /** A `performance.now()` time, set only if the connection has credentials: they compare it with the time of their last refresh. */
  #sentAt = 0;
  #credentialRetries = 0;
  #isRepeat = false;

  /** Sends a request to a server, over a new connection if there is none. */
  static run(owner: UpstreamCallOwner, request: UpstreamRequest): Promise<Payload> {
    return new Promise<Payload>((resolve, reject) =>
      new UpstreamCall(request, owner, resolve, reject).#start(owner),
    );
  }

  /**
   * Sends a request that makes sense on this connection only, such as a subscription. It does not count as in flight, is not
   * repeated on another connection, and rejects with the error of the transport.
   */
  static runOver(connection: UpstreamConnection, request: UpstreamRequest): Promise<Payload> {
    return new Promise<Payload>((resolve, reject) =>
      new UpstreamCall(request, undefined, resolve, reject).#sendOver(connection),
    );
  }

  private constructor(
    request: UpstreamRequest,
    owner: UpstreamCallOwner | undefined,
    resolve: (payload: Payload) => void,
    reject: (error: unknown) => void,
  ) {
    this.#request = request;
    this.#owner = owner;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  #start(owner: UpstreamCallOwner): void {
    if (!this.#request.isCall) return this.#connect(owner);
    owner.pending.add();
    const { queue } = owner.pending;
    if (queue === undefined) return this.#connect(owner);
    queue.enter(this.#request.options.cancellation).then(
      (turn) => {
        this.#turn = turn;
        this.#connect(owner);
      },
      (error: unknown) => this.#rejectWith(error),
    );
  }

  #connect(owner: UpstreamCallOwner): void {
    const connection = owner.connection();
    if (connection !== undefined) return this.#sendOver(connection);
    rejectOnCancel(owner.connect(), this.#request.options.cancellation).then(
      (opened) => this.#sendOver(opened),
      (error: unknown) => this.#rejectWith(error),
    );
  }

  #sendOver(connection: UpstreamConnection): void {
    this.#connection = connection;
    if (this.#owner !== undefined) {
      connection.requestStarted();
      this.#owner.requestStarted();
    }
    this.#send();
  }

  #send(): void {
    if (this.#connection.opened.credentials !== undefined) this.#sentAt = performance.now();
    try {
      this.#connection.send(this.#request, this);
    } catch (error) {
      this.onError(error);
    }
  }

  onResult(payload: Payload): void {
    const { requestingClient } = this.#request.options;
    let result = payload;
    try {
      this.#connection.idOwners.recordResult(payload.outline, requestingClient);
      if (requestingClient?.isAggregated === true)
        result = nameServerInResult(payload, this.#connection.name);
    } catch (error) {
      void this.#fail(error);
      return;
    }
    this.#endRequest(this.#request.isCall);
    this.#settle();
    this.#resolve(result);
  }

  onError(error: unknown): void {
    void this.#recover(error);
  }

  async #recover(cause: unknown): Promise<void> {
    let error = cause;
    try {
      const { requestingClient } = this.#request.options;
      if (error instanceof RpcError) {
        this.#connection.idOwners.recordError(error.body.data, requestingClient);
        if (requestingClient?.isAggregated === true) error = nameServerInError(error, this.#connection.name);
      }
      const attempt = { since: this.#sentAt, repeats: this.#credentialRetries };
      const outcome = await handleRefusal(error, this.#connection.opened.credentials, attempt);
      if (outcome === 'try-again') {
        this.#credentialRetries++;
        return this.#send();
      }
      if (outcome?.endsConnection === true) this.#connection.reportLost(outcome.error);
      error = outcome?.error ?? error;
    } catch (problem) {
      error = problem;
    }
    if (this.#owner === undefined || this.#isRepeat || !isSessionLost(error)) return this.#fail(error);
    this.#connection.reportLost(error);
    this.#endRequest(false);
    this.#isRepeat = true;
    this.#connect(this.#owner);
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#owner === undefined) return this.#reject(error);
    let explained: unknown;
    try {
      explained = await explainError(error, this.#connection);
    } catch (problem) {
      explained = problem;
    }
    // A JSON-RPC error is an answer of the server, so the connection counts as stable.
    this.#endRequest(this.#request.isCall && error instanceof RpcError);
    this.#rejectWith(explained);
  }

  #endRequest(hasServed: boolean): void {
    if (this.#owner === undefined) return;
    this.#connection.requestEnded(hasServed);
    this.#owner.requestEnded();
  }

  #rejectWith(error: unknown): void {
    this.#settle();
    this.#reject(error);
  }

  /** Ends the turn in the queue and the count of pending requests, once per call. */
  #settle(): void {
    this.#turn?.end();
    if (this.#request.isCall) this.#owner?.pending.remove();
  }
}

/** Returns the error that a client gets: the server's own error unchanged, anything else as a GatewayError that names the server. */
export async function explainError(error: unknown, { opened, name }: UpstreamConnection): Promise<unknown> {
  if (error instanceof UnexpectedResponseError) return classifyRequestError(error, name);
  if (error instanceof GatewayError) return error;
  if (error instanceof RpcError) return classifyRpcError(error, name, opened.facts.era);
  return opened.client.isClosed
    ? classifyConnectionLoss(error, name, await opened.processHints())
    : classifyRequestError(error, name);
}
