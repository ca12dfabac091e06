import { randomUUID } from 'node:crypto';

import type { ListingCache } from '../../catalog/listing-cache.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import type { GatewayDeps } from '../../gateway/gateway-deps.ts';
import type { Scope } from '../../core/lib/scope.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Logger } from '../../observability/log.ts';
import type { AppOptions } from '../app-options.ts';
import type { Store } from '../open-store.ts';

interface ReplicaCoordinationDeps {
  readonly scope: Scope;
  readonly store: Store;
  readonly cache: ListingCache;
  /** Waits until the catalog has processed the stored listings. Resolves with whether it has a listing of the server. */
  readonly has: (name: UpstreamName) => Promise<boolean>;
  readonly log: Logger;
}

type ReplicaCoordination = Pick<GatewayDeps, 'listInTurn' | 'shares'>;

/**
 * Opens the services that coordinate the gateways on one database: housekeeping, listing turns and shared limits. Resolves with an empty
 * object for a single gateway.
 */
export async function openReplicaCoordination(
  options: AppOptions,
  current: () => ConfigSnapshot,
  { scope, store, cache, has, log }: ReplicaCoordinationDeps,
): Promise<ReplicaCoordination> {
  if (store.place.server === undefined || options.listen === 'none') return {};
  const [{ Housekeeping }, { createListingTurns: listingTurns }, { FleetShares }] = await Promise.all([
    import('./housekeeping.ts'),
    import('./listing-turns.ts'),
    import('../../policy/fleet-limits/fleet-shares.ts'),
  ]);
  const { database } = store;
  const now = Date.now;
  scope.use(new Housekeeping({ database, now, log }));
  const shutdown = new AbortController();
  scope.defer(() => shutdown.abort(new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.')));
  const findConfig = (name: UpstreamName) =>
    current().value.upstreams.find((upstream) => upstream.name === name);
  return {
    shares: scope.use(new FleetShares({ database, replica: randomUUID(), now, log })),
    listInTurn: listingTurns({
      database,
      cache,
      has,
      now,
      pid: options.pid,
      signal: shutdown.signal,
      fingerprint: (name) => findConfig(name)?.fingerprint,
      listMs: () => current().value.startup.refreshMs,
    }),
  };
}
