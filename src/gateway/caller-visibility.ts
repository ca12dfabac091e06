import type { Catalog } from '../catalog/catalog.ts';
import { restrictSnapshot } from '../catalog/restrict-snapshot.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { Caller } from '../core/caller.ts';
import type { UpstreamName } from '../core/ids.ts';
import { createPolicy } from '../policy/caller-policy.ts';
import type { CallerPolicy, Policy } from '../policy/caller-policy.ts';
import { createTierLookup } from '../policy/tool-tiers.ts';
import { createCatalogView } from './catalog-view.ts';
import type { CatalogView } from './catalog-view.ts';
import type { FindTools } from './tool-search.ts';

interface CallerVisibilityDeps {
  readonly config: Pick<GatewayConfig, 'upstreams' | 'policy' | 'profiles' | 'unusedTags'>;
  readonly catalog: Catalog;
  readonly find: FindTools;
  readonly unavailableReason: CatalogView['unavailableReason'];
}

/** Restricts the catalog to the entries that each caller may see. All lookups for a caller use it, so a hidden entry cannot be found. */
export class CallerVisibility {
  readonly #deps: CallerVisibilityDeps;
  #config: CallerVisibilityDeps['config'];
  #policy: Policy;
  /** Restricted snapshots by complete snapshot, then by the key of the caller's policy. */
  #restricted = new WeakMap<Snapshot, Map<string, Snapshot>>();
  /** Views by visible snapshot, so that callers with the same policy share one view. */
  #views = new WeakMap<Snapshot, CatalogView>();

  constructor(deps: CallerVisibilityDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#policy = createConfiguredPolicy(deps.config);
  }

  /** Applies another configuration and discards everything derived from the previous one. */
  apply(config: CallerVisibilityDeps['config']): void {
    this.#config = config;
    this.#policy = createConfiguredPolicy(config);
    this.#restricted = new WeakMap();
    this.#views = new WeakMap();
  }

  /** The complete catalog, for operators of the gateway. */
  get unfiltered(): Snapshot {
    return this.#deps.catalog.current;
  }

  policyFor(caller: Caller): CallerPolicy {
    return this.#policy.for(caller);
  }

  /** Returns the part of the catalog that the caller may see. Returns the same object until the catalog or the policy changes. */
  visibleTo(caller: Caller): Snapshot {
    return this.#restrict(this.#deps.catalog.current, caller);
  }

  /** Returns the part of one server that the caller may see; undefined until its listing has been fetched. */
  singleServerVisibleTo(caller: Caller, name: UpstreamName): Snapshot | undefined {
    const snapshot = this.#deps.catalog.singleServer(name);
    return snapshot && this.#restrict(snapshot, caller);
  }

  /** Whether the caller may know that the server exists. */
  canKnowServer(caller: Caller, name: UpstreamName): boolean {
    return this.#createServerFilter(caller, this.#deps.catalog.current)(name);
  }

  /** Returns the catalog as the caller sees it. Returns the same object until the catalog or the policy changes. */
  view(caller: Caller): CatalogView {
    const { catalog, find, unavailableReason } = this.#deps;
    const complete = catalog.current;
    const visible = this.#restrict(complete, caller);
    let view = this.#views.get(visible);
    if (view === undefined) {
      const canKnow = this.#createServerFilter(caller, complete);
      // All callers share one search index. Hidden tools are skipped among the hits, which does not change the order of the others.
      const findVisible: FindTools = (_, query, options) =>
        find(complete, query, { ...options, isAllowed: ({ name }) => visible.tools.has(name) });
      view = createCatalogView(
        visible,
        this.#config.upstreams.filter(({ name }) => canKnow(name)),
        visible === complete ? find : findVisible,
        unavailableReason,
      );
      this.#views.set(visible, view);
    }
    return view;
  }

  /**
   * Returns a filter for the servers that the caller may know about. A server with a listing must be part of the caller's restricted
   * snapshot. For a server whose listing has not been fetched yet, only the rules can decide.
   */
  #createServerFilter(caller: Caller, complete: Snapshot): (name: UpstreamName) => boolean {
    const policy = this.policyFor(caller);
    if (policy.isUnrestricted) return () => true;
    const visible = this.#restrict(complete, caller);
    return (name) =>
      visible.upstreams.has(name) || (!complete.upstreams.has(name) && policy.canKnowServer(name));
  }

  #restrict(complete: Snapshot, caller: Caller): Snapshot {
    const policy = this.policyFor(caller);
    if (policy.isUnrestricted) return complete;
    let byPolicy = this.#restricted.get(complete);
    if (byPolicy === undefined) this.#restricted.set(complete, (byPolicy = new Map<string, Snapshot>()));
    let visible = byPolicy.get(policy.key);
    if (visible === undefined) {
      visible = restrictSnapshot(complete, {
        isEntryVisible: (entry) => policy.decide(entry).verdict !== 'hide',
        isUpstreamVisible: (name, hasVisibleEntry) => hasVisibleEntry || policy.canKnowServer(name),
      });
      byPolicy.set(policy.key, visible);
    }
    return visible;
  }
}

function createConfiguredPolicy({
  upstreams,
  policy,
  profiles,
  unusedTags = {},
}: CallerVisibilityDeps['config']): Policy {
  // Includes disabled servers: a rule that hides a server by tag also hides its name while it is disabled.
  const tags = new Map<string, readonly string[]>([
    ...Object.entries(unusedTags),
    ...upstreams.map((upstream) => [upstream.name, upstream.tags] as const),
  ]);
  return createPolicy({
    policy,
    profiles,
    tagsOf: (name) => tags.get(name) ?? [],
    tierOf: createTierLookup(upstreams),
  });
}
