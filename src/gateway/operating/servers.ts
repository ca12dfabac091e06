import type { Catalog } from '../../catalog/catalog.ts';
import type { Listing } from '../../catalog/listing.ts';
import { withinMs } from '../../lib/within-ms.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';
import type { Discovery } from '../listing/discovery.ts';
import type { Subscriptions } from '../calls/subscriptions.ts';
import { statusOf } from './status.ts';
import type { UpstreamStatus } from './status.ts';

/** Most servers that answer at all have by then. */
const BESIDE_KNOWN_MS = 5000;

interface ServersDeps {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  readonly subscriptions: Subscriptions;
}

/** What an operator sees of the servers and does with them. */
export class Servers {
  readonly #deps: ServersDeps;

  constructor(deps: ServersDeps) {
    this.#deps = deps;
  }

  names(): readonly UpstreamName[] {
    return this.#deps.pool.names();
  }

  status(): readonly UpstreamStatus[] {
    return this.names().map((name) => this.statusOf(name));
  }

  statusOf(name: UpstreamName): UpstreamStatus {
    const { pool, catalog, discovery } = this.#deps;
    const upstream = pool.get(name);
    const listing = catalog.listing(name);
    const status = statusOf(name, upstream, { listing, failure: discovery.failure(name) });
    // What only lists for them may rest while sessions work with theirs.
    const isInUse = status.state === 'idle' && upstream?.config.share === 'session' && pool.isOpen(name);
    return isInUse ? { ...status, state: 'ready' } : status;
  }

  /** What keeps those from being used that nobody has needed yet, as far as it is known; none of them is started by this. */
  async foreseen(): Promise<ReadonlyMap<string, GatewayError>> {
    const all = await Promise.all(
      this.names().map(async (name) => [name, await this.#deps.pool.foreseen(name)] as const),
    );
    return new Map(all.flatMap(([name, error]) => (error === undefined ? [] : [[name, error] as const])));
  }

  /** The processes that run for it. */
  pids(name: UpstreamName): readonly number[] {
    return this.#deps.pool.pids(this.#known(name));
  }

  listing(name: UpstreamName): Listing | undefined {
    return this.#deps.catalog.listing(name);
  }

  /** Lists those that were never listed and waits for them; what cannot be listed has its problem in the status. */
  async listed(names: readonly UpstreamName[]): Promise<void> {
    const { catalog, discovery } = this.#deps;
    const unknown = names.filter((name) => !catalog.has(name));
    await Promise.all(unknown.map((name) => discovery.list(name).catch(() => {})));
  }

  /** The same for whoever looks at all of them: where some are known, one that is silent does not keep the others from view. */
  async listedForAll(): Promise<void> {
    const names = this.names();
    const listed = this.listed(names);
    if (names.some((name) => this.#deps.catalog.has(name))) await withinMs(listed, BESIDE_KNOWN_MS);
    else await listed;
  }

  /** Lists it again now; `anew` also finds out again what was remembered of a program's help. */
  async refresh(name: UpstreamName, how?: 'anew'): Promise<void> {
    await this.#deps.discovery.refresh(this.#known(name), how);
  }

  /** Ends its processes and connections, forgets its failures and connects anew. */
  async restart(name: UpstreamName): Promise<void> {
    const { pool, subscriptions, discovery } = this.#deps;
    await pool.restart(this.#known(name));
    subscriptions.renew(name);
    await discovery.refresh(name);
  }

  #known(name: UpstreamName): UpstreamName {
    if (this.#deps.pool.get(name) !== undefined) return name;
    throw new GatewayError('ENTRY_NOT_FOUND', `There is no server "${name}".`, {
      details: { kind: 'server' },
    });
  }
}
