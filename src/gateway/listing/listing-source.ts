import type { ListingSource } from '../../catalog/catalog.ts';
import { readListing } from '../../catalog/listing.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';

/** Connects the catalog, which knows no upstreams, with the pool, which knows no listings. */
export function listingSource(
  pool: UpstreamPool,
  deps: { readonly now: () => number; readonly log: Logger },
): ListingSource {
  return {
    list: async (name, cancellation, known) => {
      const upstream = pool.get(name);
      if (upstream === undefined)
        throw new GatewayError('INVARIANT', `There is no upstream "${name}" to list.`);
      const raw = await upstream.list(cancellation);
      const { listing, unreadable, duplicates } = readListing(
        raw,
        { upstream: name, config: upstream.config.fingerprint, at: deps.now() },
        known,
      );
      if (raw.isCut)
        deps.log.warn('A list of a server has no end; took the first part of it.', { upstream: name });
      if (raw.unusable !== undefined && raw.unusable > 0) {
        const { unusable: count } = raw;
        deps.log.warn('Left out tools whose x-mcp-header breaks the rules.', { upstream: name, count });
      }
      if (unreadable + duplicates > 0) {
        deps.log.warn('Left out entries of a server.', { upstream: name, unreadable, duplicates });
      }
      return listing;
    },
  };
}
