import type { ListingSource } from '../../catalog/catalog.ts';
import { readListing } from '../../catalog/listing.ts';
import { GatewayError } from '../../core/errors.ts';
import { completeInSlices } from '../../core/lib/complete-in-slices.ts';
import type { Logger } from '../../observability/log.ts';
import type { UpstreamPool } from '../../upstream/upstream-pool.ts';

/** Lets the catalog list upstreams through the pool, so that neither depends on the other. */
export function createListingSource(
  pool: UpstreamPool,
  deps: { readonly now: () => number; readonly log: Logger },
): ListingSource {
  return {
    list: async (name, cancellation, known) => {
      const upstream = pool.get(name);
      if (upstream === undefined)
        throw new GatewayError('INVARIANT', `There is no upstream "${name}" to list.`);
      const raw = await upstream.list(cancellation);
      const about = { upstream: name, config: upstream.config.fingerprint, at: deps.now() };
      const { listing, unreadable, duplicates } = await completeInSlices(readListing(raw, about, known));
      if (raw.isCut)
        deps.log.warn('Pagination limit reached; the listing of a server was truncated.', { upstream: name });
      if (raw.unusable !== undefined && raw.unusable > 0) {
        const { unusable: count } = raw;
        deps.log.warn('Ignored tools with an invalid x-mcp-header.', { upstream: name, count });
      }
      if (unreadable + duplicates > 0) {
        deps.log.warn('Ignored unreadable or duplicate entries of a server.', {
          upstream: name,
          unreadable,
          duplicates,
        });
      }
      return listing;
    },
  };
}
