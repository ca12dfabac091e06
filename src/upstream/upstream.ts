import type { UpstreamConfig } from '../config/config.ts';
import { backoff } from '../lib/backoff.ts';
import { Cancellation, orCancelled } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Payload } from '../lib/payload.ts';
import { HttpStatusError } from '../wire/stream.ts';
import { classifyExchange, classifyLoss, untilRetry } from './classify.ts';
import { Connection } from './connection.ts';
import type { RequestOptions } from './connection.ts';
import { idleLimitMs, IdleTimer, RecentUse } from './idle.ts';
import { listEntries } from './list-entries.ts';
import type { RawListing } from './list-entries.ts';
import { transition } from './state.ts';
import type { UpstreamEvent, UpstreamState } from './state.ts';
import type { UpstreamDeps } from './upstream-deps.ts';

/** A call that meets `waiting` joins the next attempt when it is due this soon. */
const JOIN_WITHIN_MS = 2000;

/** One configured server: connected when needed, kept alive while used, stopped when idle, reopened when lost. */
export class Upstream implements AsyncDisposable {
  readonly config: UpstreamConfig;
  readonly #deps: UpstreamDeps;
  readonly #idle: IdleTimer;
  readonly #use = new RecentUse();
  readonly #endings = new Set<Promise<void>>();
  #state: UpstreamState = { at: 'idle' };
  #connection: Connection | undefined;
  #attempt: { readonly promise: Promise<Connection>; readonly cancellation: Cancellation } | undefined;
  #nextAttempt: Deferred<void> | undefined;
  /** The connection is gone and why is still being found out; until then the state says `ready`. */
  #losing: Promise<void> | undefined;
  #retryTimer: NodeJS.Timeout | undefined;
  #inFlight = 0;
  #lastUsedAt = 0;
  #isUsed = false;
  #subscribed: ReadonlySet<string> = new Set();

  constructor(config: UpstreamConfig, deps: UpstreamDeps) {
    this.config = config;
    this.#deps = deps;
    this.#idle = new IdleTimer({
      now: deps.now,
      limitMs: () => this.#idleLimitMs(),
      isBusy: () => this.#inFlight > 0 || this.#subscribed.size > 0,
      lastUsedAt: () => this.#lastUsedAt,
      onIdle: () => this.#stopIdle(),
    });
  }

  get name(): UpstreamName {
    return this.config.name;
  }

  get state(): UpstreamState {
    return this.#state;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Process id of the running server, where there is one. */
  get pid(): number | undefined {
    return this.#connection?.opened.pid;
  }

  /** Whatever a client asks of this server. Connections are retried, requests are not. */
  async request(method: string, params: JsonObject, options: RequestOptions): Promise<Payload> {
    this.#isUsed = true;
    this.#use.add(this.#deps.now());
    return this.#send(method, params, options, true);
  }

  async list(cancellation: Cancellation): Promise<RawListing> {
    const connection = this.#connection ?? (await orCancelled(this.#connect(), cancellation));
    const ask = (method: string, params: JsonObject): Promise<Payload> =>
      this.#send(method, params, { cancellation }, false);
    return listEntries(ask, connection.opened.facts, cancellation);
  }

  /** Makes the server send updates for exactly these resources, now and after every reconnection. */
  async subscribe(uris: ReadonlySet<string>, cancellation: Cancellation): Promise<void> {
    this.#subscribed = uris;
    if (uris.size === 0 && this.#connection === undefined) return;
    const connection = this.#connection ?? (await orCancelled(this.#connect(), cancellation));
    await connection.subscribe(uris, cancellation);
  }

  /** A person asks: counters are reset and the next attempt is made now. */
  async retryNow(): Promise<void> {
    if (this.#state.at === 'ready' || this.#state.at === 'connecting') return;
    await this.#startAttempt();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#state.at === 'closed') return void (await Promise.all(this.#endings));
    this.#feed({ type: 'close' });
    clearTimeout(this.#retryTimer);
    this.#idle.disarm();
    this.#nextAttempt?.resolve();
    this.#attempt?.cancellation.cancel(new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.'));
    this.#drop();
    await this.#attempt?.promise.catch(() => {}); // It was cancelled a line above.
    await Promise.all(this.#endings);
  }

  async #send(
    method: string,
    params: JsonObject,
    options: RequestOptions,
    isCall: boolean,
    isRepeat = false,
  ): Promise<Payload> {
    const connection = this.#connection ?? (await orCancelled(this.#connect(), options.cancellation));
    this.#inFlight++;
    try {
      const payload = await connection.request(method, params, options);
      if (isCall) connection.hasServed = true;
      return payload;
    } catch (error) {
      // The server refused it unread, because it forgot our session: nothing was executed.
      if (error instanceof HttpStatusError && error.sessionLost && !isRepeat) {
        await this.#lost(connection, error);
        return await this.#send(method, params, options, isCall, true);
      }
      if (error instanceof RpcError && isCall) connection.hasServed = true;
      throw await this.#explain(error, connection);
    } finally {
      this.#inFlight--;
      this.#lastUsedAt = this.#deps.now();
      this.#idle.arm();
    }
  }

  async #explain(error: unknown, connection: Connection): Promise<unknown> {
    if (error instanceof RpcError || error instanceof GatewayError) return error;
    if (connection.isClosed) return classifyLoss(error, this.name, await connection.opened.hints());
    return classifyExchange(error, this.name);
  }

  async #connect(): Promise<Connection> {
    for (;;) {
      if (this.#connection !== undefined) return this.#connection;
      if (this.#attempt !== undefined) return this.#attempt.promise;
      if (this.#losing !== undefined) {
        await this.#losing;
        continue;
      }
      const state = this.#state;
      if (state.at === 'closed') throw new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
      if (state.at === 'failed' || state.at === 'needs-auth') throw state.error;
      if (state.at !== 'waiting') return this.#startAttempt();
      if (state.retryAt - this.#deps.now() > JOIN_WITHIN_MS) throw untilRetry(state, this.#deps.now());
      this.#nextAttempt ??= deferred<void>();
      await this.#nextAttempt.promise;
    }
  }

  #startAttempt(): Promise<Connection> {
    clearTimeout(this.#retryTimer);
    this.#feed({ type: 'connect', now: this.#deps.now() });
    const cancellation = new Cancellation();
    const { connectMs } = this.config.timeouts;
    const timer = setTimeout(() => {
      const text = `Server "${this.name}" was not ready within ${connectMs / 1000} s (timeouts.connect).`;
      cancellation.cancel(
        new GatewayError('UPSTREAM_UNAVAILABLE', text, { details: { upstream: this.name } }),
      );
    }, connectMs);
    const promise = this.#open(cancellation).finally(() => {
      clearTimeout(timer);
      if (this.#attempt?.promise === promise) this.#attempt = undefined;
    });
    this.#attempt = { promise, cancellation };
    this.#nextAttempt?.resolve();
    this.#nextAttempt = undefined;
    return promise;
  }

  async #open(cancellation: Cancellation): Promise<Connection> {
    const { eras, open, now } = this.#deps;
    const era = this.config.era === 'auto' ? eras.recall(this.config.fingerprint)?.era : this.config.era;
    try {
      const connection = await Connection.open(open, this.config, {
        era,
        cancellation,
        identity: this.#deps.identity,
        onListChanged: this.#deps.onListChanged,
        onResourceUpdated: this.#deps.onResourceUpdated,
        log: this.#deps.log,
      });
      if (cancellation.reason !== undefined) {
        await connection[Symbol.asyncDispose]();
        throw cancellation.reason;
      }
      const { facts } = connection.opened;
      eras.remember(this.config.fingerprint, facts);
      this.#connection = connection;
      this.#feed({ type: 'connected', server: facts, now: now() });
      void connection.opened.peer.closed.then((error) => this.#lost(connection, error));
      this.#resubscribe(connection);
      this.#lastUsedAt = now();
      this.#idle.arm();
      return connection;
    } catch (error) {
      this.#refused(
        error instanceof GatewayError
          ? error
          : new GatewayError('INVARIANT', String(error), { cause: error }),
      );
      throw error;
    }
  }

  /** Best effort: a server that no longer takes a subscription must not make the connection useless. */
  #resubscribe(connection: Connection): void {
    if (this.#subscribed.size === 0 && connection.opened.facts.era === 'legacy') return;
    connection.subscribe(this.#subscribed, new Cancellation()).catch((error: unknown) => {
      this.#deps.log.warn('Cannot subscribe to resources again.', {
        upstream: this.name,
        reason: String(error),
      });
    });
  }

  #refused(error: GatewayError): void {
    if (this.#state.at !== 'connecting') return;
    this.#feed({ type: 'refused', error, retryAt: this.#retryAt(this.#state.attempt) });
    this.#deps.log.warn('Cannot connect to a server.', {
      upstream: this.name,
      code: error.code,
      reason: error.message,
    });
    this.#scheduleRetry();
  }

  #lost(connection: Connection, cause: Error): Promise<void> {
    if (this.#connection !== connection) return Promise.resolve();
    this.#losing = this.#lose(connection, cause).finally(() => (this.#losing = undefined));
    return this.#losing;
  }

  async #lose(connection: Connection, cause: Error): Promise<void> {
    this.#drop();
    if (this.#state.at !== 'ready') return;
    const { now } = this.#deps;
    const error = classifyLoss(cause, this.name, await connection.opened.hints());
    if (this.#state.at !== 'ready' || this.#connection !== undefined) return;
    const retryAt = this.#retryAt(this.#state.attempt);
    this.#feed({ type: 'lost', error, now: now(), retryAt, served: connection.hasServed });
    this.#deps.log.warn('Lost the connection to a server.', { upstream: this.name, reason: error.message });
    this.#scheduleRetry();
    // Somebody waits for its updates: that is a need, too.
    if (this.state.at === 'idle' && this.#subscribed.size > 0) this.#startAttempt().catch(() => {});
  }

  #scheduleRetry(): void {
    if (this.#state.at !== 'waiting') return;
    const delay = Math.max(0, this.#state.retryAt - this.#deps.now());
    this.#retryTimer = setTimeout(() => {
      if (this.#state.at === 'waiting') this.#startAttempt().catch(() => {}); // Its failure is in the state.
    }, delay);
    this.#retryTimer.unref();
  }

  #retryAt(attempt: number): number {
    return this.#deps.now() + backoff(attempt, { baseMs: 500, maxMs: 60_000 });
  }

  #idleLimitMs(): number | undefined {
    if (this.#connection === undefined) return undefined;
    const requestsWithinHour = this.#use.withinHour(this.#deps.now());
    return idleLimitMs(this.config.idle, { isUsed: this.#isUsed, requestsWithinHour });
  }

  #stopIdle(): void {
    this.#deps.log.info('Stopped an idle server.', { upstream: this.name });
    this.#feed({ type: 'idle' });
    this.#drop();
  }

  /** Ends the process or session; the next need opens a new one without waiting for this. */
  #drop(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    this.#idle.disarm();
    const ending = connection[Symbol.asyncDispose]().finally(() => this.#endings.delete(ending));
    this.#endings.add(ending);
  }

  #feed(event: UpstreamEvent): void {
    this.#state = transition(this.#state, event);
    this.#deps.onState(this.#state);
  }
}
