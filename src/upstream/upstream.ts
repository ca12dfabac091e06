import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation, rejectOnCancel } from '../core/lib/cancellation.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { Deferred } from '../core/lib/deferred.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import type { Credentials } from '../core/credentials.ts';
import { GatewayError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Logger } from '../observability/log.ts';
import { PendingRequests } from './pending-requests.ts';
import {
  classifyConnectionLoss,
  canOtherRequestsFinish,
  shuttingDownError,
  installingError,
  retryPendingError,
} from './connecting/upstream-errors.ts';
import { ConnectTimeLimit } from './connecting/connect-time-limit.ts';
import { fetchListing, omitUnusableTools } from './connecting/fetch-listing.ts';
import type { RawListing } from './connecting/fetch-listing.ts';
import type { ClientIdentity, EraCache } from './connecting/negotiate.ts';
import type { OpenServer } from './server-opener.ts';
import type { IdOwners } from './id-owners.ts';
import { idleSetting, IdleTimer } from './idle-timer.ts';
import { MAX_RETRY_WAIT_MS, RetrySchedule, transition } from './upstream-state.ts';
import type { UpstreamEvent, UpstreamState } from './upstream-state.ts';
import { DesiredSubscriptions } from './subscriptions.ts';
import { explainError, UpstreamCall } from './upstream-call.ts';
import type { RequestOptions, UpstreamCallOwner } from './upstream-call.ts';
import { ClosingConnections, UpstreamConnection } from './upstream-connection.ts';

interface UpstreamDeps {
  readonly open: OpenServer;
  readonly identity: ClientIdentity;
  /** Absent for a server that needs no sign-in. */
  readonly credentials?: Credentials | undefined;
  readonly eras: EraCache;
  readonly log: Logger;
  readonly now: () => number;
  readonly random?: () => number;
  readonly onState: (state: UpstreamState) => void;
  readonly onListChanged: () => void;
  /** Called with the params of a notification about a resource or a task. */
  readonly onUpdate: (params: JsonObject) => void;
  /** Returns the client that the server may address outside of calls. */
  readonly attachedClient: () => RequestingClient | undefined;
  readonly idOwners: IdOwners;
  /** Whether failed attempts are repeated in the background (the default). A process that ends with one request never repeats them. */
  readonly isRetrying?: boolean | undefined;
  /** Whether this upstream serves one session only. */
  readonly isOfSession?: boolean | undefined;
}

interface ConnectAttempt {
  readonly promise: Promise<UpstreamConnection>;
  readonly cancellation: Cancellation;
}

/** One configured server: connects when it is needed, stays connected while it is used, stops when idle, and reconnects after a loss. */
export class Upstream implements AsyncDisposable {
  #config: UpstreamConfig;
  readonly #deps: UpstreamDeps;
  readonly #log: Logger;
  readonly #idle: IdleTimer;
  readonly #subscriptions = new DesiredSubscriptions();
  readonly #pending = new PendingRequests();
  readonly #retries: RetrySchedule;
  readonly #closingConnections: ClosingConnections;
  #closing: Promise<void> | undefined;
  #state: UpstreamState = { kind: 'idle' };
  #connection: UpstreamConnection | undefined;
  #attempt: ConnectAttempt | undefined;
  /** Resolves when the next scheduled attempt starts. */
  #nextAttempt: Deferred<void> | undefined;
  /** Exists while the cause of a loss is being determined; the state is still `ready` then. */
  #losing: Promise<void> | undefined;
  /** The number of requests that were written to a connection and have no outcome yet. */
  #inFlight = 0;
  /** Whether the last attempt failed; the remembered era may be wrong, so the next attempt probes again. */
  #mustProbe = false;
  /** The message of the last failed attempt, so that a repeated one is logged only once as a warning. */
  #lastRefusal: string | undefined;

  readonly #callOwner: UpstreamCallOwner = {
    pending: this.#pending,
    connection: () => this.#connection,
    connect: () => this.#connect(),
    requestStarted: () => void this.#inFlight++,
    requestEnded: () => {
      this.#inFlight--;
      this.#idle.touch();
    },
  };

  constructor(config: UpstreamConfig, deps: UpstreamDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#log = deps.log.with({ upstream: config.name });
    const { now, random, isRetrying } = deps;
    this.#retries = new RetrySchedule({ now, random, isRetrying, onDue: () => this.#connectInBackground() });
    this.#closingConnections = new ClosingConnections(this.#log);
    deps.credentials?.onSignedIn(() => this.#state.kind === 'needs-auth' && this.retryNow().catch(() => {}));
    this.#idle = new IdleTimer({
      setting: () => idleSetting(this.#config, deps),
      // A monotonic clock, because a change of the system time must not stop servers.
      now: () => performance.now(),
      isRunning: () => this.#connection !== undefined,
      isBusy: () => this.#inFlight > 0 || this.#subscriptions.watched.size > 0,
      onIdle: () => this.#stopIdle(),
    });
  }

  get config(): UpstreamConfig {
    return this.#config;
  }

  get name(): UpstreamName {
    return this.#config.name;
  }

  get state(): UpstreamState {
    return this.#state;
  }

  /** Whether a package launcher starts the server for the first time, which can take minutes. */
  get isInstalling(): boolean {
    return this.#state.kind === 'connecting' && this.#state.isInstalling === true;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get pid(): number | undefined {
    return this.#connection?.opened.pid;
  }

  /** Replaces settings that the connection does not depend on. */
  updateConfig(config: UpstreamConfig): void {
    this.#config = config;
    this.#idle.restart();
  }

  /** Sends a request of a client. It is sent again only if the server certainly has not executed it; see `UpstreamCall`. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<Payload> {
    this.#idle.recordRequest();
    return UpstreamCall.run(this.#callOwner, { method, params, options, isCall: true });
  }

  async list(cancellation: Cancellation): Promise<RawListing> {
    const { opened } = await this.getConnection(cancellation);
    const send = (method: string, params: JsonObject): Promise<Payload> =>
      UpstreamCall.run(this.#callOwner, { method, params, options: { cancellation }, isCall: false });
    return omitUnusableTools(
      this.#config.transport.kind,
      await fetchListing(send, opened.facts, cancellation),
    );
  }

  /** Returns the open connection; opens one if there is none. */
  async getConnection(cancellation: Cancellation): Promise<UpstreamConnection> {
    return this.#connection ?? rejectOnCancel(this.#connect(), cancellation);
  }

  /** Replaces the subscriptions of one subscriber; they are also restored after every reconnect. */
  async subscribe(
    uris: ReadonlySet<string>,
    cancellation: Cancellation,
    requestingClient?: RequestingClient,
    subscriber = '',
  ): Promise<void> {
    this.#subscriptions.set(subscriber, uris);
    if (this.#subscriptions.watched.size === 0 && this.#connection === undefined) return;
    const connection = await this.getConnection(cancellation);
    try {
      // `watched` is read after the wait, because other subscribers may have been added while the server connected.
      await connection.subscriptions.update(this.#subscriptions.watched, { cancellation, requestingClient });
    } catch (error) {
      throw await explainError(error, connection);
    }
  }

  /**
   * Reconnects at the next request if fewer capabilities than these were declared to the server. A server that has been used keeps its
   * connection, because it may have state; the capabilities are declared to it when it next starts.
   */
  reopenIfUnused(capabilities: JsonObject): void {
    const connection = this.#connection;
    if (connection === undefined) {
      // A failed attempt is followed by another one, which declares all capabilities.
      this.#attempt?.promise.then(() => this.reopenIfUnused(capabilities)).catch(() => {});
      return;
    }
    const isUsed = connection.hasServed || !this.#pending.isEmpty;
    if (isUsed || !connection.hasDeclaredTooLittle(capabilities)) return;
    this.#detach(connection);
    this.#deps.onListChanged();
  }

  raiseLogLevel(level: string): void {
    this.#subscriptions.raiseLogLevel(level, this.#connection);
  }

  /** Connects now, after a person asked for it or signed in, and resets the attempt counter. */
  async retryNow(): Promise<void> {
    if (this.#state.kind === 'ready' || this.#state.kind === 'connecting') return;
    if (this.#state.kind === 'closed') throw shuttingDownError();
    await this.#startAttempt({ isFresh: true });
  }

  /** Closes the upstream when all pending requests are answered. The caller must not send further requests. */
  async retire(): Promise<void> {
    await this.#pending.drained();
    await this[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#dispatch({ type: 'close' });
    this.#deps.credentials?.[Symbol.dispose]();
    this.#retries.cancel();
    this.#nextAttempt?.resolve();
    this.#attempt?.cancellation.cancel(shuttingDownError());
    this.#dropConnection();
    // The attempt rejects, because it was just cancelled.
    await Promise.all([this.#attempt?.promise.catch(() => {}), this.#closingConnections.closeAll()]);
  }

  /** Returns the open connection, joins a running or imminent attempt, or starts one. Rejects in states that only a person can end. */
  async #connect(): Promise<UpstreamConnection> {
    for (;;) {
      if (this.#connection !== undefined) return this.#connection;
      if (this.#attempt !== undefined) return this.#waitFor(this.#attempt);
      if (this.#losing !== undefined) {
        await this.#losing;
        continue;
      }
      const state = this.#state;
      if (state.kind === 'closed') throw shuttingDownError();
      if (state.kind === 'failed' || state.kind === 'needs-auth' || state.kind === 'held') throw state.error;
      if (state.kind !== 'waiting') return this.#startAttempt();
      if (state.retryAt - this.#deps.now() > MAX_RETRY_WAIT_MS)
        throw retryPendingError(state, this.#deps.now());
      this.#nextAttempt ??= deferred<void>();
      await this.#nextAttempt.promise;
    }
  }

  #startAttempt(options: { readonly isFresh: boolean } = { isFresh: false }): Promise<UpstreamConnection> {
    this.#retries.cancel();
    this.#dispatch({ type: 'connect', now: this.#deps.now(), ...options });
    const cancellation = new Cancellation();
    const limit = new ConnectTimeLimit(this.name, this.#config.timeouts.connectMs, cancellation);
    const promise = this.#open(cancellation, limit).finally(() => {
      limit[Symbol.dispose]();
      if (this.#attempt?.promise === promise) this.#attempt = undefined;
    });
    this.#attempt = { promise, cancellation };
    // Calls that wait for this attempt continue in `#connect` and find `#attempt`, so it must be set first.
    this.#nextAttempt?.resolve();
    this.#nextAttempt = undefined;
    return this.#waitFor(this.#attempt);
  }

  /** Settles like the attempt, but does not wait for an installation for longer than `timeouts.connect`. */
  #waitFor({ promise }: ConnectAttempt): Promise<UpstreamConnection> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (this.isInstalling) reject(installingError(this.name));
      }, this.#config.timeouts.connectMs);
      promise.finally(() => clearTimeout(timer)).then(resolve, reject);
    });
  }

  /** Ignores a rejection, because the failure is already in the state and in the log. */
  #connectInBackground(): void {
    this.#startAttempt().catch(() => {});
  }

  async #open(cancellation: Cancellation, limit: ConnectTimeLimit): Promise<UpstreamConnection> {
    try {
      const connection = await this.#openConnection(cancellation, limit);
      // The attempt timed out or the upstream was closed while the server completed the handshake.
      if (cancellation.reason !== undefined) {
        await connection[Symbol.asyncDispose]();
        throw cancellation.reason;
      }
      this.#useConnection(connection);
      return connection;
    } catch (error) {
      this.#mustProbe = true;
      const isOurs = error instanceof GatewayError;
      this.#handleConnectError(
        isOurs ? error : new GatewayError('INVARIANT', String(error), { cause: error }),
      );
      throw error;
    }
  }

  #openConnection(cancellation: Cancellation, limit: ConnectTimeLimit): Promise<UpstreamConnection> {
    const { era, fingerprint } = this.#config;
    const remembered = this.#mustProbe ? undefined : this.#deps.eras.recall(fingerprint)?.era;
    return UpstreamConnection.open(this.#deps.open, this.#config, {
      ...this.#deps,
      era: era === 'auto' ? remembered : era,
      cancellation,
      onInstall: (progress) => {
        limit.onInstall(progress);
        if (this.#state.kind === 'connecting' && !this.isInstalling) this.#dispatch({ type: 'install' });
      },
      onQuestion: () => this.#pending.serialize(),
      onClientLeft: (connection) => this.#detach(connection),
      onLost: (connection, error) => void this.#handleLoss(connection, error),
    });
  }

  #useConnection(connection: UpstreamConnection): void {
    const { facts, client } = connection.opened;
    this.#deps.eras.remember(this.#config.fingerprint, facts);
    this.#mustProbe = false;
    this.#connection = connection;
    this.#dispatch({ type: 'connected', server: facts, now: this.#deps.now() });
    void client.closed.then((error) => this.#handleLoss(connection, error));
    this.#subscriptions.applyTo(connection, this.#log);
    this.#idle.touch();
  }

  #handleConnectError(error: GatewayError): void {
    // The upstream was closed during the attempt.
    if (this.#state.kind !== 'connecting') return;
    this.#dispatch({ type: 'refused', error, retryAt: this.#retries.timeAfterRefusal(this.#state.attempt) });
    // The same reason is logged as a warning only once in a row; the state keeps showing it.
    const level = error.message === this.#lastRefusal ? 'debug' : 'warn';
    this.#lastRefusal = error.message;
    this.#log[level]('Cannot connect to a server.', { reason: error.message });
    this.#retries.schedule(this.state);
  }

  /** Handles the first report about the loss of the current connection; later reports, and those about older connections, are ignored. */
  #handleLoss(connection: UpstreamConnection, cause: Error): Promise<void> {
    if (this.#connection !== connection) return Promise.resolve();
    this.#losing = this.#recoverFromLoss(connection, cause).finally(() => (this.#losing = undefined));
    return this.#losing;
  }

  async #recoverFromLoss(connection: UpstreamConnection, cause: Error): Promise<void> {
    // A server that forgot the session or refuses the token may still answer requests that it accepted before.
    this.#dropConnection(canOtherRequestsFinish(cause) ? 'when-drained' : 'now');
    if (this.#state.kind !== 'ready') return;
    const error = classifyConnectionLoss(cause, this.name, await connection.opened.processHints());
    // The upstream may have been closed while the exit of the process was awaited.
    if (this.#state.kind !== 'ready' || this.#connection !== undefined) return;
    const retryAt = this.#retries.retryTimeAfter(this.#state.attempt);
    this.#dispatch({ type: 'lost', error, now: this.#deps.now(), retryAt, hasServed: connection.hasServed });
    this.#log.warn('Lost the connection to a server.', { reason: error.message });
    this.#retries.schedule(this.state);
    // Subscribers wait for updates, so the server must run even if no call needs it.
    if (this.state.kind === 'idle' && this.#subscriptions.watched.size > 0) this.#connectInBackground();
  }

  #stopIdle(): void {
    this.#log.info('Stopped an idle server.');
    this.#dispatch({ type: 'idle' });
    this.#dropConnection();
  }

  /**
   * Keeps the connection for the calls that run on it and lets new calls open another one. A client that left while a question was
   * open may never return, and the calls of other clients must not wait for it.
   */
  #detach(connection: UpstreamConnection): void {
    if (connection !== this.#connection) return;
    this.#dispatch({ type: 'idle' });
    this.#dropConnection('when-drained');
    this.#pending.queue?.releaseCurrent();
    this.#closingConnections.keepNewest();
    if (this.#subscriptions.watched.size > 0) this.#connectInBackground();
  }

  /** Closes the connection in the background; the next call opens a new one without waiting for the old one to close. */
  #dropConnection(when: 'now' | 'when-drained' = 'now'): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    this.#idle.disarm();
    this.#closingConnections.close(connection, when);
  }

  #dispatch(event: UpstreamEvent): void {
    this.#state = transition(this.#state, event);
    this.#deps.onState(this.#state);
  }
}
