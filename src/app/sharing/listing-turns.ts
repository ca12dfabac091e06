import type { ListingTurn } from '../../gateway/listing/discovery.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isChoreDone, noteChore } from '../../storage/chore.ts';
import type { Database } from '../../storage/database.ts';
import { withLease } from '../../storage/lease.ts';
import { troubleOf } from '../../storage/store-error.ts';

interface TurnsDeps {
  readonly database: () => Promise<Database>;
  /** What was listed with; undefined for a server that is gone. */
  readonly fingerprint: (name: UpstreamName) => string | undefined;
  /** Whether there is a listing, once what others stored was taken over. */
  readonly has: (name: UpstreamName) => Promise<boolean>;
  /** Takes over what others have stored, and stores what we have; neither rejects. */
  readonly cache: { look(): Promise<void>; flush(): Promise<void> };
  /** How long a server may take to be listed. */
  readonly listMs: () => number;
  readonly pid: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What another gateway has listed a moment ago is not listed again. */
const FRESH_MS = 60_000;
const PAUSE_MS = 250;

/** Which of several gateways lists a server that all of them would: one at a time, and the next only if that one failed or died. */
export function listingTurns(deps: TurnsDeps): ListingTurn {
  const { cache, has, listMs, pid, now, signal } = deps;
  return async (server, list) => {
    const chore = { name: `list ${server} ${deps.fingerprint(server) ?? ''}`, everyMs: FRESH_MS };
    let isListing = false;
    try {
      const database = await deps.database();
      const lease = { database, name: chore.name, forMs: listMs(), pauseMs: PAUSE_MS, pid, now, signal };
      await withLease(lease, async () => {
        if (await isChoreDone(database, chore)) {
          await cache.look();
          if (await has(server)) return;
        }
        isListing = true;
        await list();
        await cache.flush();
        await noteChore(database, chore.name);
      });
    } catch (error) {
      // Without the database everybody lists for themselves.
      if (isListing || troubleOf(error) === undefined) throw error;
      await list();
    }
  };
}
