import type { Catalog } from '../../catalog/catalog.ts';
import type { Listing } from '../../catalog/listing.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { waitAtMost } from '../../core/lib/wait-at-most.ts';
import { installingError } from '../../upstream/connecting/upstream-errors.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';
import type { ResourceSubscriptions } from '../calls/resource-subscriptions.ts';
import type { ListingScheduler } from '../listing/listing-scheduler.ts';
import type { FailureMemory } from '../failure-memory.ts';
import { describeError, describeUpstream } from './upstream-status.ts';
import type { UpstreamStatus } from './upstream-status.ts';

/**
 * Maximum wait in milliseconds for missing listings, if other servers have one already and this process ends after the request. Most servers
 * that answer at all do so within this time.
 */
const MAX_LISTING_WAIT_MS = 5000;
/** Like `MAX_LISTING_WAIT_MS`, for a gateway that keeps running and fetches the listings for the next request. */
const MAX_SEARCH_WAIT_MS = 800;

interface ServerControlDeps {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly listing: ListingScheduler;
  readonly subscriptions: ResourceSubscriptions;
  readonly failures?: FailureMemory | undefined;
}

/** The servers as operators see and control them. */
export class ServerControl {
  readonly #deps: ServerControlDeps;

  constructor(deps: ServerControlDeps) {
    this.#deps = deps;
  }

  names(): readonly UpstreamName[] {
    return this.#deps.pool.names();
  }

  status(): readonly UpstreamStatus[] {
    return this.names().map((name) => this.statusOf(name));
  }

  statusOf(name: UpstreamName): UpstreamStatus {
    const { pool, catalog, listing } = this.#deps;
    const upstream = pool.get(name);
    const status = describeUpstream(name, upstream, {
      listing: catalog.listing(name),
      failure: listing.failure(name),
    });
    // The shared upstream, which serves listings, may be idle while the upstreams of sessions are in use.
    const isUsedBySession =
      status.state === 'idle' && upstream?.config.share === 'session' && pool.isOpen(name);
    if (isUsedBySession) return { ...status, state: 'ready' };
    const failure = status.state === 'idle' ? this.#rememberedFailure(name) : undefined;
    return failure === undefined ? status : withRememberedFailure(status, failure);
  }

  /** Returns the errors that are known to prevent unused servers from starting, by server name. It starts no server. */
  async preflightErrors(): Promise<ReadonlyMap<string, GatewayError>> {
    const results = await Promise.all(
      this.names().map(async (name) => [name, await this.#deps.pool.preflight(name)] as const),
    );
    return new Map(results.flatMap(([name, error]) => (error === undefined ? [] : [[name, error] as const])));
  }

  /** Returns the ids of all processes of a server, including those of sessions and callers. */
  pids(name: UpstreamName): readonly number[] {
    return this.#deps.pool.pids(this.#requireKnown(name));
  }

  listing(name: UpstreamName): Listing | undefined {
    return this.#deps.catalog.listing(name);
  }

  /** Returns why a server has no listing. Returns undefined if it has one, or if it was not tried yet. */
  unlistedError(name: UpstreamName): GatewayError | undefined {
    if (this.listing(name) !== undefined) return undefined;
    if (this.#deps.pool.get(name)?.isInstalling === true) return installingError(name);
    const { problem } = this.statusOf(name);
    if (problem === undefined) return undefined;
    const { code, message, ...details } = problem;
    return new GatewayError(code, message, { details: { upstream: name, ...details } });
  }

  /** Fetches the missing listings. Never rejects: the status of a server shows its failure. */
  async ensureListed(names: readonly UpstreamName[]): Promise<void> {
    const { catalog, listing } = this.#deps;
    const unlisted = names.filter((name) => !catalog.has(name));
    await Promise.all(unlisted.map((name) => listing.ensureListed(name).catch(() => {})));
  }

  /**
   * Fetches all missing listings, except those of servers that are known to fail. If some servers have a listing already, it waits only
   * briefly for the others.
   */
  async ensureAllListed(): Promise<void> {
    const { catalog, listing, failures, pool } = this.#deps;
    const names = this.names().filter((name) => this.statusOf(name).problem === undefined);
    const listed = this.ensureListed(names);
    if (!this.names().some((name) => catalog.has(name))) return listed;
    await waitAtMost(listed, listing.isOnDemand ? MAX_LISTING_WAIT_MS : MAX_SEARCH_WAIT_MS);
    if (!listing.isOnDemand) return;
    // This process soon ends. Later ones must not wait for the same servers again.
    for (const name of names) {
      const config = pool.get(name)?.config;
      const isPending = !catalog.has(name) && this.statusOf(name).problem === undefined;
      if (config !== undefined && isPending) failures?.remember(config, slowServerError(name));
    }
  }

  /** Fetches the listing of a server again. `anew` also discards the remembered help of a command-line program. */
  async refresh(name: UpstreamName, how?: 'anew'): Promise<void> {
    await this.#deps.listing.refresh(this.#requireKnown(name), how);
  }

  /** Ends the processes and connections of a server, discards its failures and connects again. */
  async restart(name: UpstreamName): Promise<void> {
    const { pool, subscriptions, listing } = this.#deps;
    await pool.restart(this.#requireKnown(name));
    subscriptions.resubscribe(name);
    await listing.refresh(name);
  }

  #rememberedFailure(name: UpstreamName): GatewayError | undefined {
    const config = this.#deps.pool.get(name)?.config;
    return config && this.#deps.failures?.get(config);
  }

  #requireKnown(name: UpstreamName): UpstreamName {
    if (this.#deps.pool.get(name) !== undefined) return name;
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name}".`, {
      details: { kind: 'server' },
    });
  }
}

/** Returns the status of an unused server that failed when it was used last, possibly by another process. */
function withRememberedFailure(status: UpstreamStatus, failure: GatewayError): UpstreamStatus {
  const state = failure.code === 'UPSTREAM_NEEDS_AUTH' ? 'needs-auth' : 'failed';
  return { ...status, state, problem: describeError(failure) };
}

function slowServerError(name: UpstreamName): GatewayError {
  const summary = `Server "${name}" was not ready within ${MAX_LISTING_WAIT_MS / 1000} s, so the command that started it ended without it.`;
  const fix = `trunkline refresh ${quoteShellWord(name)}`;
  const details = { upstream: name, reason: 'timeout', summary, fix };
  return new GatewayError('UPSTREAM_UNAVAILABLE', `${summary} Wait for it with: ${fix}`, { details });
}
