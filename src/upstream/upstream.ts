import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation, orCancelled } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Payload } from '../lib/payload.ts';
import { Asked } from './asked.ts';
import { classifyLoss, isSessionLost, isUnread, stopping, tooSlow, untilRetry } from './opening/classify.ts';
import { Connection } from './connection.ts';
import type { Carried, RequestOptions } from './connection.ts';
import type { Carrier } from './carriage.ts';
import { Endings } from './process/endings.ts';
import { idleSetting, IdleTimer } from './sharing/idle.ts';
import { listEntries, usableOver } from './opening/list-entries.ts';
import type { RawListing } from './opening/list-entries.ts';
import { Retries } from './opening/retries.ts';
import { StandingOrders } from './sharing/standing-orders.ts';
import { JOIN_WITHIN_MS, transition } from './state.ts';
import type { UpstreamEvent, UpstreamState } from './state.ts';
import type { UpstreamDeps } from './upstream-deps.ts';

type Uris = ReadonlySet<string>;

/** One configured server: connected when needed, kept alive while used, stopped when idle, reopened when lost. */
export class Upstream implements AsyncDisposable {
  /** Replaced by `adjust` alone. */
  config: UpstreamConfig;
  readonly #deps: UpstreamDeps;
  readonly #idle: IdleTimer;
  readonly #orders = new StandingOrders();
  readonly #asked = new Asked();
  readonly #retries: Retries;
  readonly #endings: Endings;
  #closing: Promise<void> | undefined;
  #state: UpstreamState = { at: 'idle' };
  #connection: Connection | undefined;
  #attempt: { readonly promise: Promise<Connection>; readonly cancellation: Cancellation } | undefined;
  #nextAttempt: Deferred<void> | undefined;
  /** The connection is gone and why is still being found out; until then the state says `ready`. */
  #losing: Promise<void> | undefined;
  #inFlight = 0;
  /** What failed with a remembered era is asked for it again. */
  #doubtsEra = false;
  #lastRefusal: string | undefined;

  constructor(config: UpstreamConfig, deps: UpstreamDeps) {
    this.config = config;
    this.#deps = deps;
    // Its failure is in the state.
    this.#retries = new Retries({ ...deps, onDue: () => void this.#startAttempt().catch(() => {}) });
    this.#endings = new Endings(deps.log.with({ upstream: config.name }));
    deps.credentials?.onSignedIn(() => this.#state.at === 'needs-auth' && this.retryNow().catch(() => {}));
    this.#idle = new IdleTimer({
      setting: () => idleSetting(this.config, deps),
      // What is measured here must not depend on who sets the time of the machine.
      now: () => performance.now(),
      isRunning: () => this.#connection !== undefined,
      isBusy: () => this.#inFlight > 0 || this.#orders.subscribed.size > 0,
      onIdle: () => this.#stopIdle(),
    });
  }

  get name(): UpstreamName {
    return this.config.name;
  }

  /** Takes over settings that its connection does not depend on. */
  adjust(config: UpstreamConfig): void {
    this.config = config;
    this.#idle.adjusted();
  }

  /** Nobody will ask anything more: ends as soon as what was asked is answered. */
  async retire(): Promise<void> {
    await this.#asked.over();
    await this[Symbol.asyncDispose]();
  }

  get state(): UpstreamState {
    return this.#state;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get pid(): number | undefined {
    return this.#connection?.opened.pid;
  }

  /** Whatever a client asks of this server. Connections are retried, requests are not. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<Payload> {
    this.#idle.requested();
    const asked = { method, params, options, isCall: true };
    return this.#asked.run(asked, this.#send);
  }

  async list(cancellation: Cancellation): Promise<RawListing> {
    const { opened } = await this.connected(cancellation);
    const ask = (method: string, params: JsonObject): Promise<Payload> =>
      this.#send({ method, params, options: { cancellation }, isCall: false });
    return usableOver(this.config.transport.kind, await listEntries(ask, opened.facts, cancellation));
  }

  /** The living connection; one is made when there is none. */
  async connected(cancellation: Cancellation): Promise<Connection> {
    return this.#connection ?? orCancelled(this.#connect(), cancellation);
  }

  /** Makes the server send updates for exactly these resources and those others want, now and after every reconnection. */
  async subscribe(uris: Uris, cancellation: Cancellation, behind?: ClientBehind, by = ''): Promise<void> {
    this.#orders.subscribe(by, uris);
    if (this.#orders.subscribed.size === 0 && this.#connection === undefined) return;
    const connection = await this.connected(cancellation);
    try {
      await connection.subscribe(this.#orders.subscribed, { cancellation, behind }); // Others may have asked while it connected.
    } catch (error) {
      throw await connection.explain(error, this.name);
    }
  }

  wantLogs(level: string): void {
    this.#orders.wantLogs(level, this.#connection);
  }

  /** A person asks: counters are reset and the next attempt is made now. */
  async retryNow(): Promise<void> {
    if (this.#state.at === 'ready' || this.#state.at === 'connecting') return;
    if (this.#state.at === 'closed') throw stopping();
    await this.#startAttempt({ isFresh: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#feed({ type: 'close' });
    this.#deps.credentials?.[Symbol.dispose]();
    this.#retries.cancel();
    this.#nextAttempt?.resolve();
    this.#attempt?.cancellation.cancel(stopping());
    this.#drop();
    // The attempt was cancelled a moment ago.
    await Promise.all([this.#attempt?.promise.catch(() => {}), this.#endings.endAll()]);
  }

  readonly #send = (asked: Carried): Promise<Payload> => {
    if (this.#connection !== undefined) return this.#connection.carry(asked, this.#carrier);
    const connected = orCancelled(this.#connect(), asked.options.cancellation);
    return connected.then((connection) => connection.carry(asked, this.#carrier));
  };

  readonly #carrier: Carrier<Connection> = {
    begun: () => void this.#inFlight++,
    over: () => {
      this.#inFlight--;
      this.#idle.used();
    },
    failed: async (connection, { isRepeat = false }, error) => {
      if (isRepeat || !isSessionLost(error)) throw await connection.explain(error, this.name);
      // The server refused it unread, because it forgot our session: nothing was executed.
      void this.#lost(connection, error);
    },
    again: (asked) => this.#send({ ...asked, isRepeat: true }),
  };

  async #connect(): Promise<Connection> {
    for (;;) {
      if (this.#connection !== undefined) return this.#connection;
      if (this.#attempt !== undefined) return this.#attempt.promise;
      if (this.#losing !== undefined) {
        await this.#losing;
        continue;
      }
      const state = this.#state;
      if (state.at === 'closed') throw stopping();
      if (state.at === 'failed' || state.at === 'needs-auth' || state.at === 'held') throw state.error;
      if (state.at !== 'waiting') return this.#startAttempt();
      if (state.retryAt - this.#deps.now() > JOIN_WITHIN_MS) throw untilRetry(state, this.#deps.now());
      this.#nextAttempt ??= deferred<void>();
      await this.#nextAttempt.promise;
    }
  }

  #startAttempt(options: { readonly isFresh: boolean } = { isFresh: false }): Promise<Connection> {
    this.#retries.cancel();
    this.#feed({ type: 'connect', now: this.#deps.now(), ...options });
    const cancellation = new Cancellation();
    const { connectMs } = this.config.timeouts;
    const timer = setTimeout(() => cancellation.cancel(tooSlow(this.name, connectMs)), connectMs);
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
    const { fingerprint } = this.config;
    const known = this.#doubtsEra ? undefined : eras.recall(fingerprint)?.era;
    const era = this.config.era === 'auto' ? known : this.config.era;
    try {
      const connection = await Connection.open(open, this.config, {
        ...this.#deps,
        era,
        cancellation,
        onQuestion: () => this.#asked.takeTurns(),
        onLeft: (from) => this.#setApart(from),
        onSignedOut: (from, error) => void this.#lost(from, error),
      });
      if (cancellation.reason !== undefined) {
        await connection[Symbol.asyncDispose]();
        throw cancellation.reason;
      }
      const { facts } = connection.opened;
      eras.remember(fingerprint, facts);
      this.#doubtsEra = false;
      this.#connection = connection;
      this.#feed({ type: 'connected', server: facts, now: now() });
      void connection.opened.peer.closed.then((error) => this.#lost(connection, error));
      this.#orders.giveTo(connection, this.#deps.log.with({ upstream: this.name }));
      this.#idle.used();
      return connection;
    } catch (error) {
      this.#doubtsEra = true;
      const isOurs = error instanceof GatewayError;
      this.#refused(isOurs ? error : new GatewayError('INVARIANT', String(error), { cause: error }));
      throw error;
    }
  }

  #refused(error: GatewayError): void {
    if (this.#state.at !== 'connecting') return;
    this.#feed({ type: 'refused', error, retryAt: this.#retries.at(this.#state.attempt) });
    // The same again and again is said once; the state has the details.
    const level = error.message === this.#lastRefusal ? 'debug' : 'warn';
    this.#lastRefusal = error.message;
    this.#deps.log[level]('Cannot connect to a server.', { upstream: this.name, reason: error.message });
    this.#retries.schedule(this.state);
  }

  #lost(connection: Connection, cause: Error): Promise<void> {
    if (this.#connection !== connection) return Promise.resolve();
    this.#losing = this.#lose(connection, cause).finally(() => (this.#losing = undefined));
    return this.#losing;
  }

  async #lose(connection: Connection, cause: Error): Promise<void> {
    // Whoever forgot our session will refuse the rest unread, too, or may still answer it.
    this.#drop(isUnread(cause) ? 'when-quiet' : 'now');
    if (this.#state.at !== 'ready') return;
    const error = classifyLoss(cause, this.name, await connection.opened.hints());
    if (this.#state.at !== 'ready' || this.#connection !== undefined) return;
    const retryAt = this.#retries.at(this.#state.attempt);
    this.#feed({ type: 'lost', error, now: this.#deps.now(), retryAt, served: connection.hasServed });
    this.#deps.log.warn('Lost the connection to a server.', { upstream: this.name, reason: error.message });
    this.#retries.schedule(this.state);
    // Somebody waits for its updates: that is a need, too.
    if (this.state.at === 'idle' && this.#orders.subscribed.size > 0) this.#startAttempt().catch(() => {});
  }

  #stopIdle(): void {
    this.#deps.log.info('Stopped an idle server.', { upstream: this.name });
    this.#feed({ type: 'idle' });
    this.#drop();
  }

  /** A client that left with a question may never come back: its call keeps the process to itself, and nobody waits for it. */
  #setApart(connection: Connection): void {
    if (connection !== this.#connection) return;
    this.#feed({ type: 'idle' });
    this.#drop('when-quiet');
    this.#asked.release();
    this.#endings.keepNewest();
    if (this.#orders.subscribed.size > 0) this.#startAttempt().catch(() => {});
  }

  /** Ends the process or session; the next need opens a new one without waiting for this. */
  #drop(when: 'now' | 'when-quiet' = 'now'): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    this.#connection = undefined;
    this.#idle.disarm();
    this.#endings.end(connection, when);
  }

  #feed(event: UpstreamEvent): void {
    this.#state = transition(this.#state, event);
    this.#deps.onState(this.#state);
  }
}
