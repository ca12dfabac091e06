import type { Catalog } from '../../catalog/catalog.ts';
import { mayBelongTo } from '../../catalog/naming.ts';
import { orCancelled } from '../../lib/cancellation.ts';
import type { Deadlines } from '../../lib/deadlines.ts';
import type { Caller } from '../../model/caller.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { tooLate } from '../../policy/guards/deadline.ts';
import type { UpstreamPool } from '../../upstream/sharing/pool.ts';
import type { CallRequest } from '../calls/call-request.ts';
import type { Discovery } from './discovery.ts';
import type { Quarantine } from '../quarantine.ts';
import { findTool, refuseHeldTool, unknownEntry } from '../calls/route.ts';
import type { Sight } from '../sight.ts';

interface FirstListingDeps {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly discovery: Discovery;
  readonly sight: Sight;
  readonly quarantine: Quarantine;
  readonly deadlines: Deadlines;
  readonly separator: () => string;
  readonly timeoutOf: (upstream: UpstreamName) => number;
}

/** While a server has no listing yet, a call is matched against the known prefixes and only that server is listed. */
export class FirstListing {
  readonly #deps: FirstListingDeps;

  constructor(deps: FirstListingDeps) {
    this.#deps = deps;
  }

  async tool(caller: Caller, name: string, request: CallRequest): Promise<ToolEntry> {
    const { pool, catalog, sight, quarantine, separator } = this.#deps;
    const known = findTool(sight.all(caller), name);
    if (known !== undefined) {
      // Its server has just said that its list is another one: what is called must still be what was approved.
      await quarantine.changing(known.upstream, request.cancellation);
      const now = findTool(sight.all(caller), name);
      if (now !== undefined) return now;
    }
    const { sees } = sight.of(caller);
    // A server is not even asked for what the caller could not see of it: how long that takes would tell of it.
    const isPossible = (upstream: UpstreamName): boolean =>
      !catalog.has(upstream) &&
      mayBelongTo(name, upstream, separator()) &&
      sees(upstream, [name, name.slice(upstream.length + separator().length)]);
    for (const upstream of pool.names().filter(isPossible)) {
      await this.list(upstream, request);
      const entry = findTool(sight.all(caller), name);
      if (entry !== undefined) return entry;
    }
    refuseHeldTool(sight.all(caller), name);
    throw unknownEntry('tool', name, sight.all(caller).tools.keys());
  }

  async list(upstream: UpstreamName, { cancellation, timeoutMs }: CallRequest): Promise<void> {
    const { discovery, deadlines, timeoutOf } = this.#deps;
    const waitMs = timeoutMs ?? timeoutOf(upstream);
    const limit = deadlines.after(waitMs, () =>
      cancellation.cancel(tooLate(upstream, waitMs, timeoutMs === undefined ? 'timeouts.call' : 'call')),
    );
    try {
      await orCancelled(discovery.list(upstream), cancellation);
    } finally {
      deadlines.remove(limit);
    }
  }
}
