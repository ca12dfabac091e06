import { randomUUID } from 'node:crypto';

import type { ListingCache } from '../../catalog/listing-cache.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import type { ListingTurn } from '../../gateway/listing/discovery.ts';
import type { Scope } from '../../lib/scope.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { Logger } from '../../observe/log.ts';
import type { Shares } from '../../policy/sharing/shares.ts';
import type { AppOptions } from '../app-options.ts';
import type { Store } from '../open-store.ts';

interface SharingDeps {
  readonly scope: Scope;
  readonly store: Store;
  readonly cache: ListingCache;
  readonly has: (name: UpstreamName) => Promise<boolean>;
  readonly log: Logger;
}

interface Sharing {
  readonly turn?: ListingTurn;
  readonly shares?: Shares;
}

/** What gateways on one database do not each do for themselves; nothing where a gateway is alone. */
export async function openSharing(
  options: AppOptions,
  current: () => ConfigSnapshot,
  { scope, store, cache, has, log }: SharingDeps,
): Promise<Sharing> {
  if (store.place.server === undefined || options.listen === 'nobody') return {};
  const [{ Housekeeping }, { listingTurns }, { Shares: Opened }] = await Promise.all([
    import('./housekeeping.ts'),
    import('./listing-turns.ts'),
    import('../../policy/sharing/shares.ts'),
  ]);
  const { database } = store;
  const now = Date.now;
  scope.use(new Housekeeping({ database, now, log }));
  const closing = new AbortController();
  scope.defer(() => closing.abort(new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.')));
  const configOf = (name: UpstreamName) => current().value.upstreams.find((each) => each.name === name);
  return {
    shares: scope.use(new Opened({ database, replica: randomUUID(), now, log })),
    turn: listingTurns({
      ...{ database, cache, has, now, pid: options.pid, signal: closing.signal },
      fingerprint: (name) => configOf(name)?.fingerprint,
      listMs: () => current().value.startup.refreshMs,
    }),
  };
}
