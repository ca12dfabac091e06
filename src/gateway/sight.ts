import type { Catalog } from '../catalog/catalog.ts';
import { restrict } from '../catalog/restrict.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { GatewayConfig } from '../config/config.ts';
import type { Caller } from '../model/caller.ts';
import type { UpstreamName } from '../model/ids.ts';
import { createPolicy } from '../policy/decide.ts';
import type { CallerPolicy, Policy } from '../policy/decide.ts';
import { tiers } from '../policy/tiers.ts';
import type { Find } from './tool-search.ts';
import { viewOf } from './view.ts';
import type { View } from './view.ts';

interface SightDeps {
  readonly config: Pick<GatewayConfig, 'upstreams' | 'policy' | 'profiles' | 'unusedTags'>;
  readonly catalog: Catalog;
  readonly find: Find;
  readonly trouble: View['trouble'];
}

/** What each caller may see. Everything that looks something up for a caller looks here, so that nothing else can be found. */
export class Sight {
  readonly #deps: SightDeps;
  #config: SightDeps['config'];
  #policy: Policy;
  #snapshots = new WeakMap<Snapshot, Map<string, Snapshot>>();
  #views = new WeakMap<Snapshot, View>();

  constructor(deps: SightDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#policy = policyOf(deps.config);
  }

  /** From now on this configuration decides; nothing is left of what followed from another. */
  apply(config: SightDeps['config']): void {
    this.#config = config;
    this.#policy = policyOf(config);
    this.#snapshots = new WeakMap();
    this.#views = new WeakMap();
  }

  /** Everything, for whoever operates the gateway. */
  get whole(): Snapshot {
    return this.#deps.catalog.current;
  }

  of(caller: Caller): CallerPolicy {
    return this.#policy.for(caller);
  }

  /** The part of the catalog that the caller may see; the same object while nothing changed. */
  all(caller: Caller): Snapshot {
    return this.#seen(caller, this.#deps.catalog.current);
  }

  /** The same of one server by itself, once it was listed. */
  alone(caller: Caller, name: UpstreamName): Snapshot | undefined {
    const snapshot = this.#deps.catalog.alone(name);
    return snapshot && this.#seen(caller, snapshot);
  }

  /** Whether the caller may know that there is such a server at all. */
  knows(caller: Caller, name: UpstreamName): boolean {
    return this.#knows(caller, this.#deps.catalog.current)(name);
  }

  view(caller: Caller): View {
    const { catalog, find, trouble } = this.#deps;
    const whole = catalog.current;
    const seen = this.#seen(caller, whole);
    let view = this.#views.get(seen);
    if (view === undefined) {
      const knows = this.#knows(caller, whole);
      // One index for everybody: who may see what is asked while taking hits, and changes no order.
      const among: Find = (_, query, options) =>
        find(whole, query, { ...options, allow: ({ name }) => seen.tools.has(name) });
      view = viewOf(
        seen,
        this.#config.upstreams.filter(({ name }) => knows(name)),
        seen === whole ? find : among,
        trouble,
      );
      this.#views.set(seen, view);
    }
    return view;
  }

  /** Who is given single entries learns of no server but theirs. */
  #knows(caller: Caller, whole: Snapshot): (name: UpstreamName) => boolean {
    const own = this.of(caller);
    if (own.isOpen) return () => true;
    const seen = this.#seen(caller, whole);
    return (name) => seen.upstreams.has(name) || (!whole.upstreams.has(name) && own.knows(name));
  }

  #seen(caller: Caller, whole: Snapshot): Snapshot {
    const own = this.of(caller);
    if (own.isOpen) return whole;
    let parts = this.#snapshots.get(whole);
    if (parts === undefined) this.#snapshots.set(whole, (parts = new Map<string, Snapshot>()));
    let seen = parts.get(own.key);
    if (seen === undefined) {
      seen = restrict(whole, {
        entry: (entry) => own.decide(entry).verdict !== 'hide',
        upstream: (name, isMet) => isMet || own.knows(name),
      });
      parts.set(own.key, seen);
    }
    return seen;
  }
}

function policyOf({ upstreams, policy, profiles, unusedTags = {} }: SightDeps['config']): Policy {
  // Whoever may not see a server may not see it either while it is switched off.
  const tags = new Map<string, readonly string[]>([
    ...Object.entries(unusedTags),
    ...upstreams.map((upstream) => [upstream.name, upstream.tags] as const),
  ]);
  return createPolicy({
    policy,
    profiles,
    tagsOf: (name) => tags.get(name) ?? [],
    tierOf: tiers(upstreams),
  });
}
