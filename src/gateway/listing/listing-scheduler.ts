import type { Catalog } from '../../catalog/catalog.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { sanitizeText } from '../../core/lib/sanitize-text.ts';
import type { StragglerOptions } from '../../core/lib/wait-for-stragglers.ts';
import type { Logger } from '../../observability/log.ts';
import { FORGET_HELP_METHOD } from '../../upstream/cli/forget-help-method.ts';
import { installingError } from '../../upstream/connecting/upstream-errors.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import type { FailureMemory } from '../failure-memory.ts';

/** Delay in milliseconds before the listings in the cached catalog are fetched again, so that a warm start answers clients first. */
const WARM_DELAY_MS = 500;
/** A reconnected server may be a newer version, so its listing is fetched again unless it is younger than this (milliseconds). */
const FRESH_MS = 60_000;

/** Fetches the listing of a server, unless another process has done so and shares the result. */
export type ListInTurn = (name: UpstreamName, list: () => Promise<void>) => Promise<void>;

interface ListingSchedulerOptions {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly refreshMs: () => number;
  readonly listWaitMs: () => number;
  readonly now: () => number;
  readonly log: Logger;
  /** Remembers failures for later processes. */
  readonly failures?: FailureMemory | undefined;
  /** Coordinates processes that share their listings; without it, each process lists for itself. */
  readonly listInTurn?: ListInTurn | undefined;
}

/** Decides when listings are fetched: at the start, when their lists change, and when they reconnect. */
export class ListingScheduler implements AsyncDisposable {
  readonly #options: ListingSchedulerOptions;
  readonly #running = new Map<Promise<void>, Cancellation>();
  /** When the last listing of a server started, or `listInTurn` ended; absent if the listing failed or none has started. */
  readonly #triedAt = new Map<UpstreamName, number>();
  /** The run that was started last for each server; only its failure is remembered. */
  readonly #latestRuns = new Map<UpstreamName, Promise<void>>();
  readonly #failures = new Map<UpstreamName, GatewayError>();
  readonly #listeners: Disposable[] = [];
  /** Listings in progress after a server announced a changed list. */
  readonly #relistings = new Map<UpstreamName, Promise<void>>();
  readonly #firstRound = deferred<void>();
  #firstListWait: FirstListWait | undefined;
  #warmTimer: NodeJS.Timeout | undefined;
  /** Whether listings are fetched before a request needs them. */
  #isEager = false;
  #isStopped = false;

  constructor(options: ListingSchedulerOptions) {
    this.#options = options;
  }

  /** Starts to fetch listings. With `on-demand`, cached listings count as fresh, and a listing is fetched only when a request needs it. */
  start(when: 'at-once' | 'on-demand' = 'at-once'): void {
    const { pool, catalog, now } = this.#options;
    this.#isEager = when === 'at-once';
    const names = this.#isEager ? pool.names() : [];
    const cached = names.filter((name) => catalog.has(name));
    const uncachedRuns = names
      .filter((name) => !cached.includes(name))
      .map((name) => this.#refreshInTurn(name));
    this.#warmTimer = setTimeout(
      () => {
        const cachedRuns = cached.map((name) => this.#refreshInTurn(name));
        void Promise.all([...uncachedRuns, ...cachedRuns]).then(() => this.#firstRound.resolve());
      },
      cached.length === 0 ? 0 : WARM_DELAY_MS,
    );
    this.#listeners.push(
      pool.events.on('listChanged', ({ name }) => this.#relist(name)),
      pool.events.on('state', ({ name, state }) => {
        if (state.kind !== 'ready') return;
        if (now() - (this.#triedAt.get(name) ?? 0) > FRESH_MS) void this.#refreshInTurn(name);
      }),
    );
  }

  /** Resolves when the first listing of every server since the start has succeeded or failed. */
  get firstRound(): Promise<void> {
    return this.#firstRound.promise;
  }

  /**
   * Resolves when every listing has been fetched, or when the wait for the first listings ends. All requests share one wait, so that a server
   * that never answers delays only the first of them.
   */
  whenListed(): Promise<void> {
    const { catalog, pool, listWaitMs } = this.#options;
    // The wait uses the monotonic clock, because setting the system time back would prolong it.
    const now = performance.now();
    this.#firstListWait ??= computeFirstListWait(listWaitMs(), now);
    return catalog.settled(pool.names(), computeRemainingWait(this.#firstListWait, now));
  }

  /** Whether listings are fetched only when a request needs them, because the process soon ends. */
  get isOnDemand(): boolean {
    return !this.#isEager;
  }

  /** Returns a promise while the listing of a server is fetched again, after the server announced a changed list. The promise resolves even if that fails. */
  relisting(name: UpstreamName): Promise<void> | undefined {
    return this.#relistings.get(name);
  }

  /** Returns the error of the last attempt to fetch the listing of a server; undefined if the attempt succeeded or there was none. */
  failure(name: UpstreamName): GatewayError | undefined {
    return this.#failures.get(name);
  }

  /** Waits for the listing in progress, or starts one. It is meant for servers that have no listing yet; rejects if listing fails. */
  async ensureListed(name: UpstreamName): Promise<void> {
    const { catalog, refreshMs } = this.#options;
    if (!this.#triedAt.has(name)) return this.refresh(name);
    await catalog.settled([name], refreshMs());
    if (catalog.has(name)) return;
    const installing = this.#installingError(name);
    if (installing !== undefined) throw installing;
    await this.refresh(name);
  }

  /** Fetches the listing of a server now. `anew` also discards the remembered help of a command-line program. */
  async refresh(name: UpstreamName, how?: 'anew'): Promise<void> {
    if (this.#isStopped) return;
    const { pool, catalog, refreshMs, now } = this.#options;
    this.#triedAt.set(name, now());
    const cancellation = new Cancellation();
    const timeoutMs = refreshMs();
    const timer = setTimeout(
      () => cancellation.cancel(this.#installingError(name) ?? listingTimeoutError(name, timeoutMs)),
      timeoutMs,
    ).unref();
    const mustForgetHelp = how === 'anew' && pool.get(name)?.config.transport.kind === 'cli';
    const listed = mustForgetHelp
      ? this.#forgetHelp(name, cancellation).then(() => catalog.refresh(name, cancellation))
      : catalog.refresh(name, cancellation);
    const run = listed.finally(() => {
      clearTimeout(timer);
      this.#running.delete(run);
    });
    this.#running.set(run, cancellation);
    this.#latestRuns.set(name, run);
    try {
      await run;
      this.#failures.delete(name);
      this.#options.failures?.forget(name);
    } catch (error) {
      // Without this time, the listing is fetched again as soon as the server reconnects.
      this.#triedAt.delete(name);
      // The failure of a superseded run says nothing about the server with its new configuration.
      if (this.#latestRuns.get(name) === run) this.#recordFailure(name, listingError(name, error));
      throw error;
    }
  }

  /** Fetches the listing of a server now. Never rejects: a failure is logged and returned by `failure`, and the previous listing stays. */
  refreshInBackground(name: UpstreamName): Promise<void> {
    return this.refresh(name).catch((error: unknown) => this.#logFailure(name, error));
  }

  /** Fetches the listing of a server that was added or replaced by a configuration change. With `on-demand`, it is fetched when a request needs it. */
  serverChanged(name: UpstreamName, { isNew = false } = {}): void {
    this.#triedAt.delete(name);
    this.#failures.delete(name);
    if (!this.#isEager) return;
    void (isNew ? this.#refreshInTurn(name) : this.refreshInBackground(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#warmTimer);
    for (const listener of this.#listeners) listener[Symbol.dispose]();
    const running = [...this.#running];
    for (const [, cancellation] of running)
      cancellation.cancel(new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.'));
    await Promise.allSettled(running.map(([run]) => run));
  }

  /** Fetches a listing that no request waits for. With `listInTurn`, another process may fetch it instead and share the result. */
  async #refreshInTurn(name: UpstreamName): Promise<void> {
    const { listInTurn, now } = this.#options;
    if (listInTurn === undefined) return this.refreshInBackground(name);
    try {
      await listInTurn(name, () => this.refresh(name));
      this.#triedAt.set(name, now());
    } catch (error) {
      this.#logFailure(name, error);
    }
  }

  /** A server that is still being installed has not failed; its listing is fetched as soon as it is ready. */
  #recordFailure(name: UpstreamName, error: GatewayError): void {
    if (error.details['isInstalling'] === true) this.#failures.delete(name);
    else {
      this.#failures.set(name, error);
      const config = this.#options.pool.get(name)?.config;
      if (config !== undefined) this.#options.failures?.remember(config, error);
    }
  }

  #installingError(name: UpstreamName): GatewayError | undefined {
    return this.#options.pool.get(name)?.isInstalling === true ? installingError(name) : undefined;
  }

  #relist(name: UpstreamName): void {
    const run = this.refreshInBackground(name).finally(() => {
      if (this.#relistings.get(name) === run) this.#relistings.delete(name);
    });
    this.#relistings.set(name, run);
  }

  /** Discards the remembered help of a command-line program. Errors are ignored, because the next listing fails for the same reason. */
  async #forgetHelp(name: UpstreamName, cancellation: Cancellation): Promise<void> {
    await this.#options.pool
      .get(name)
      ?.request(FORGET_HELP_METHOD, {}, { cancellation })
      .catch(() => {});
  }

  #logFailure(name: UpstreamName, error: unknown): void {
    if (!this.#isStopped)
      this.#options.log.debug('Cannot fetch the lists of a server.', {
        upstream: name,
        reason: String(error),
      });
  }
}

/** After this time (milliseconds) without another listing, no more fast servers are expected. */
const LULL_MS = 150;
/** Like `LULL_MS`, if only few servers are missing. The listings of servers that start together on two cores arrive about ten milliseconds apart. */
const FEW_MISSING_LULL_MS = 50;
/** Share of `listWaitMs`, counted from the start of the process, during which the wait never ends while a server is missing. */
const UNDISTURBED_SHARE = 0.75;

/** The times at which the wait for the first listings may end, in milliseconds since the start of the process. */
interface FirstListWait {
  /** The end if only few listings are missing and no more arrive. */
  readonly earliest: number;
  /** The end if at least one listing has arrived and no more arrive. */
  readonly usual: number;
  /** The latest possible end. It applies if no listing has arrived, or if listings keep arriving. */
  readonly latest: number;
}

/**
 * Plans the wait for the first listings. The time since the start of the process counts, because the client waited for that, too. From
 * the first request on, the wait takes at least a quarter of `listWaitMs` if only few listings are missing, at least half of it if at
 * least one listing has arrived, and all of it if none has.
 */
export function computeFirstListWait(listWaitMs: number, requestedAt: number): FirstListWait {
  return {
    earliest: Math.max(listWaitMs * UNDISTURBED_SHARE, requestedAt + listWaitMs / 4),
    usual: Math.max(listWaitMs, requestedAt + listWaitMs / 2),
    latest: requestedAt + listWaitMs,
  };
}

export function computeRemainingWait(
  { earliest, usual, latest }: FirstListWait,
  now: number,
): StragglerOptions {
  return {
    lastFew: { fromMs: Math.max(0, earliest - now), lullMs: FEW_MISSING_LULL_MS },
    forAllMs: Math.max(0, usual - now),
    lullMs: LULL_MS,
    atMostMs: Math.max(0, latest - now),
  };
}

function listingTimeoutError(name: UpstreamName, timeoutMs: number): GatewayError {
  const summary = `Server "${name}" did not send its lists within ${timeoutMs / 1000} s.`;
  const fix = 'If it needs longer, raise "startup.refresh": trunkline edit';
  const details = { upstream: name, reason: 'timeout', summary, fix };
  return new GatewayError('UPSTREAM_UNAVAILABLE', `${summary} ${fix}`, { details });
}

/** Returns a `GatewayError` unchanged, and wraps any other error, such as an error response of the server. */
function listingError(name: UpstreamName, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason =
    error instanceof RpcError
      ? `error ${error.body.code}: ${sanitizeText(error.body.message)}`
      : String(error);
  return new GatewayError('UPSTREAM_PROTOCOL', `Server "${name}" answered a list request with ${reason}`, {
    cause: error,
    details: { upstream: name },
  });
}
