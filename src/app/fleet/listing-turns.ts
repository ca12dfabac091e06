import type { ListInTurn } from '../../gateway/listing/listing-scheduler.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { isChoreDone, noteChore } from '../../core/storage/chore.ts';
import type { Database } from '../../core/storage/database.ts';
import { withLease } from '../../core/storage/lease.ts';
import { storeProblemOf } from '../../core/storage/store-error.ts';

interface ListingTurnsOptions {
  readonly database: () => Promise<Database>;
  /** Returns the fingerprint of the server's configuration, or undefined if the server was removed. */
  readonly fingerprint: (name: UpstreamName) => string | undefined;
  /** Waits until the catalog has processed the stored listings. Resolves with whether it has a listing of the server. */
  readonly has: (name: UpstreamName) => Promise<boolean>;
  /** `reload` loads the listings that other gateways have stored, and `flush` stores those of this gateway. Neither rejects. */
  readonly cache: { reload(): Promise<void>; flush(): Promise<void> };
  /** Returns the maximum time for fetching a listing, in milliseconds. */
  readonly listMs: () => number;
  readonly pid: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** A listing that another gateway has fetched within this time is not fetched again. */
const FRESH_MS = 60_000;
/** Interval at which a waiting gateway tries to get the lease. */
const PAUSE_MS = 250;

/** Lets one gateway at a time fetch a listing that all of them need. The next gateway fetches it only if the first one failed or died. */
export function createListingTurns(options: ListingTurnsOptions): ListInTurn {
  const { cache, has, listMs, pid, now, signal } = options;
  return async (server, list) => {
    const chore = { name: `list ${server} ${options.fingerprint(server) ?? ''}`, everyMs: FRESH_MS };
    let isListing = false;
    try {
      const database = await options.database();
      const lease = { database, name: chore.name, forMs: listMs(), pauseMs: PAUSE_MS, pid, now, signal };
      await withLease(lease, async () => {
        if (await isChoreDone(database, chore)) {
          await cache.reload();
          if (await has(server)) return;
        }
        isListing = true;
        await list();
        await cache.flush();
        await noteChore(database, chore.name);
      });
    } catch (error) {
      // Without the database, each gateway fetches the listing for itself.
      if (isListing || storeProblemOf(error) === undefined) throw error;
      await list();
    }
  };
}
