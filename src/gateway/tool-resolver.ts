import type { Catalog } from '../catalog/catalog.ts';
import { canBelongTo } from '../catalog/exposed-names.ts';
import type { Caller } from '../core/caller.ts';
import type { ToolEntry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { rejectOnCancel } from '../core/lib/cancellation.ts';
import type { Deadlines } from '../core/lib/deadlines.ts';
import { timeoutError } from '../policy/guards/deadline-guard.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import type { ActiveConfig } from './active-config.ts';
import type { CallRequest } from './calls/call-request.ts';
import { assertToolNotHeld, lookupTool, unknownEntryError } from './calls/resolve-operation.ts';
import type { CallerVisibility } from './caller-visibility.ts';
import type { HeldEntries } from './held-entries.ts';
import type { ListingScheduler } from './listing/listing-scheduler.ts';

interface ToolResolverDeps {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly activeConfig: ActiveConfig;
  readonly listing: ListingScheduler;
  readonly visibility: CallerVisibility;
  readonly heldEntries: HeldEntries;
  readonly deadlines: Deadlines;
}

/**
 * Finds the tool of a call, and refuses held tools. If no known listing has the tool, the missing listings of servers whose
 * prefix matches the name are fetched first.
 */
export class ToolResolver {
  readonly #deps: ToolResolverDeps;

  constructor(deps: ToolResolverDeps) {
    this.#deps = deps;
  }

  async resolve(caller: Caller, name: string, request: CallRequest): Promise<ToolEntry> {
    const { visibility, heldEntries } = this.#deps;
    const known = lookupTool(visibility.visibleTo(caller), name);
    if (known !== undefined) {
      // If the server has announced a changed list, the new list must be read first: the tool may no longer be the approved one.
      await heldEntries.whenRelisted(known.upstream, request.cancellation);
      const relisted = lookupTool(visibility.visibleTo(caller), name);
      if (relisted !== undefined) return relisted;
    }
    for (const upstream of this.#candidates(caller, name)) {
      await this.listServer(upstream, request);
      const entry = lookupTool(visibility.visibleTo(caller), name);
      if (entry !== undefined) return entry;
    }
    assertToolNotHeld(visibility.visibleTo(caller), name);
    throw unknownEntryError('tool', name, visibility.visibleTo(caller).tools.keys());
  }

  /** Waits until the listing of the server has been fetched. Cancels the request if that takes longer than the request's timeout. */
  async listServer(upstream: UpstreamName, { cancellation, timeoutMs }: CallRequest): Promise<void> {
    const { listing, deadlines, activeConfig } = this.#deps;
    const waitMs = timeoutMs ?? activeConfig.callTimeoutMs(upstream);
    const limitedBy = timeoutMs === undefined ? 'timeouts.call' : 'call';
    const deadline = deadlines.after(waitMs, () =>
      cancellation.cancel(timeoutError(upstream, waitMs, limitedBy)),
    );
    try {
      await rejectOnCancel(listing.ensureListed(upstream), cancellation);
    } finally {
      deadlines.remove(deadline);
    }
  }

  /**
   * Returns the servers without a listing that may have the tool. A server is left out if the caller could not see its tool of this name, because
   * the time that listing takes would reveal that the server exists.
   */
  #candidates(caller: Caller, name: string): readonly UpstreamName[] {
    const { pool, catalog, activeConfig, visibility } = this.#deps;
    const { separator } = activeConfig.config.names;
    const { canSee } = visibility.policyFor(caller);
    return pool
      .names()
      .filter(
        (upstream) =>
          !catalog.has(upstream) &&
          canBelongTo(name, upstream, separator) &&
          canSee(upstream, [name, name.slice(upstream.length + separator.length)]),
      );
  }
}
