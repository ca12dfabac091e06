import type { Catalog } from '../../catalog/catalog.ts';
import { Cancellation } from '../../lib/cancellation.ts';
import { deferred } from '../../lib/deferred.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Logger } from '../../observe/log.ts';
import { FORGET_HELP } from '../../upstream/cli/forget-help.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';

/** Servers that we know from the cache are listed again a moment later, so that a warm start answers first. */
const WARM_DELAY_MS = 500;
/** A reconnected server may be a newer one; it is listed again unless that was just done. */
const FRESH_MS = 60_000;

/** Lists a server unless another process has done so, which shares with us what it found. */
export type ListingTurn = (name: UpstreamName, list: () => Promise<void>) => Promise<void>;

interface DiscoveryOptions {
  readonly refreshMs: () => number;
  readonly now: () => number;
  readonly log: Logger;
  /** Where several processes share what they list; else each lists for itself. */
  readonly turn?: ListingTurn | undefined;
}

/** Decides when upstreams are listed: at the start, when they say so, and when they come back. */
export class Discovery implements AsyncDisposable {
  readonly #pool: UpstreamPool;
  readonly #catalog: Catalog;
  readonly #options: DiscoveryOptions;
  readonly #running = new Map<Promise<void>, Cancellation>();
  readonly #triedAt = new Map<UpstreamName, number>();
  /** The run that was begun last for each. */
  readonly #newest = new Map<UpstreamName, Promise<void>>();
  readonly #failures = new Map<UpstreamName, GatewayError>();
  readonly #listeners: Disposable[] = [];
  readonly #changing = new Map<UpstreamName, Promise<void>>();
  readonly #firstRound = deferred<void>();
  #warmTimer: NodeJS.Timeout | undefined;
  #isAtOnce = false;
  #isStopped = false;

  constructor(pool: UpstreamPool, catalog: Catalog, options: DiscoveryOptions) {
    this.#pool = pool;
    this.#catalog = catalog;
    this.#options = options;
  }

  /** `on-demand` is for one question: what is cached is fresh enough, and only what is asked for is started. */
  start(when: 'at-once' | 'on-demand' = 'at-once'): void {
    this.#isAtOnce = when === 'at-once';
    const names = this.#isAtOnce ? this.#pool.names() : [];
    const known = names.filter((name) => this.#catalog.has(name));
    const first = names.filter((name) => !known.includes(name)).map((name) => this.#refreshInTurn(name));
    this.#warmTimer = setTimeout(
      () => {
        const second = known.map((name) => this.#refreshInTurn(name));
        void Promise.all([...first, ...second]).then(() => this.#firstRound.resolve());
      },
      known.length === 0 ? 0 : WARM_DELAY_MS,
    );
    this.#listeners.push(
      this.#pool.events.on('listChanged', ({ name }) => this.#listChanged(name)),
      this.#pool.events.on('state', ({ name, state }) => {
        if (state.at !== 'ready') return;
        if (this.#options.now() - (this.#triedAt.get(name) ?? 0) > FRESH_MS) void this.#refreshInTurn(name);
      }),
    );
  }

  /** Settled when the list that a server said has changed was read, or could not be; undefined when none has. */
  changing(name: UpstreamName): Promise<void> | undefined {
    return this.#changing.get(name);
  }

  /** Why a server could not be listed when that was last tried; undefined when it could, or was never tried. */
  failure(name: UpstreamName): GatewayError | undefined {
    return this.#failures.get(name);
  }

  /** Resolves when every server was listed once in this run, or could not be. */
  get firstRound(): Promise<void> {
    return this.#firstRound.promise;
  }

  /** A failure is kept, and is in the log; the last listing stays. */
  refreshInBackground(name: UpstreamName): Promise<void> {
    return this.refresh(name).catch((error: unknown) => this.#failed(name, error));
  }

  /** Waits for the listing that is being made, or makes one; for servers that have none. */
  async list(name: UpstreamName): Promise<void> {
    if (!this.#triedAt.has(name)) return this.refresh(name);
    await this.#catalog.settled([name], this.#options.refreshMs());
    if (!this.#catalog.has(name)) await this.refresh(name);
  }

  async refresh(name: UpstreamName, how?: 'anew'): Promise<void> {
    if (this.#isStopped) return;
    this.#triedAt.set(name, this.#options.now());
    const cancellation = new Cancellation();
    const refreshMs = this.#options.refreshMs();
    const timer = setTimeout(() => {
      const text = `Server "${name}" was not listed within ${refreshMs / 1000} s (startup.refresh).`;
      cancellation.cancel(new GatewayError('UPSTREAM_UNAVAILABLE', text, { details: { upstream: name } }));
    }, refreshMs).unref();
    const isRemembered = how === 'anew' && this.#pool.get(name)?.config.transport.kind === 'cli';
    const listed = isRemembered
      ? this.#forget(name, cancellation).then(() => this.#catalog.refresh(name, cancellation))
      : this.#catalog.refresh(name, cancellation);
    const run = listed.finally(() => {
      clearTimeout(timer);
      this.#running.delete(run);
    });
    this.#running.set(run, cancellation);
    this.#newest.set(name, run);
    try {
      await run;
      this.#failures.delete(name);
    } catch (error) {
      // Not fresh: it is listed as soon as it comes back.
      this.#triedAt.delete(name);
      // One that a changed configuration has ended says nothing about the server of the newer one.
      if (this.#newest.get(name) === run) this.#failures.set(name, listingFailure(name, error));
      throw error;
    }
  }

  /** A server is new, or another one under the name of an older; where only what is asked for is listed, it is when it is asked for. */
  changed(name: UpstreamName, { isNew = false } = {}): void {
    this.#triedAt.delete(name);
    this.#failures.delete(name);
    if (!this.#isAtOnce) return;
    void (isNew ? this.#refreshInTurn(name) : this.refreshInBackground(name));
  }

  /** Where that fails, listing fails for the same reason and says so. */
  async #forget(name: UpstreamName, cancellation: Cancellation): Promise<void> {
    await this.#pool
      .get(name)
      ?.request(FORGET_HELP, {}, { cancellation })
      .catch(() => {});
  }

  /** Nobody asks for it now, so that it need not be us who lists. */
  async #refreshInTurn(name: UpstreamName): Promise<void> {
    const { turn, now } = this.#options;
    if (turn === undefined) return this.refreshInBackground(name);
    try {
      await turn(name, () => this.refresh(name));
      this.#triedAt.set(name, now());
    } catch (error) {
      this.#failed(name, error);
    }
  }

  #failed(name: UpstreamName, error: unknown): void {
    if (!this.#isStopped)
      this.#options.log.debug('Cannot list a server.', { upstream: name, reason: String(error) });
  }

  #listChanged(name: UpstreamName): void {
    const run = this.refreshInBackground(name).finally(() => {
      if (this.#changing.get(name) === run) this.#changing.delete(name);
    });
    this.#changing.set(name, run);
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
}

/** What the server itself answered is no error of ours yet. */
function listingFailure(name: UpstreamName, error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason =
    error instanceof RpcError ? `error ${error.body.code}: ${error.body.message}` : String(error);
  const text = `Server "${name}" was asked what it offers and answered with ${reason}`;
  return new GatewayError('UPSTREAM_PROTOCOL', text, { cause: error, details: { upstream: name } });
}
