import { toExposedUri } from '../catalog/snapshot.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { UpstreamConfig } from '../config/config.ts';
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../core/ids.ts';
import { matchesGlob } from '../core/lib/matches-glob.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import type { Tier } from '../core/tier.ts';
import { createTierLookup } from '../policy/tool-tiers.ts';
import type { SearchHit } from '../catalog/search/search-index.ts';
import type { FindTools, FindToolsOptions } from './tool-search.ts';

/** The catalog as one caller sees it, with search. `CallerVisibility` decides what it contains. */
export interface CatalogView {
  /** One digest per list, to detect changes that clients must be notified of. */
  readonly digests: Snapshot['digests'];
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly servers: readonly {
    readonly name: UpstreamName;
    readonly description?: string | undefined;
    readonly facts?: ServerFacts | undefined;
  }[];
  /** Returns why a server cannot be used or searched at present, as the end of a sentence that starts with its name. */
  unavailableReason(server: UpstreamName): string | undefined;
  tool(name: string): ToolEntry | undefined;
  /** Returns the URI under which clients read a resource of an upstream. */
  exposedUri(upstream: UpstreamName, upstreamUri: string): string;
  /** Whether tools of a server may say that clients should always load them. */
  mayAlwaysLoad(upstream: UpstreamName): boolean;
  /** Returns the tier of a tool: what calling it can do. */
  tier(entry: ToolEntry): Tier;
  /** Returns the configured expression that selects a part of each result. */
  configuredSelect(entry: ToolEntry): string | undefined;
  /** Finds tools by what they do, the best match first. */
  search(query: string, options: FindToolsOptions): Promise<readonly SearchHit[]>;
}

/** The digest of a list that is not known yet. It differs from the digest of every known list, because those are hashes. */
const NO_DIGEST = '' as Fingerprint;
const UNLISTED_DIGESTS: Snapshot['digests'] = {
  tools: NO_DIGEST,
  prompts: NO_DIGEST,
  resources: NO_DIGEST,
};

/** Creates the view of a snapshot. Without a snapshot, as before the first listing, the view contains the servers but no entries. */
export function createCatalogView(
  snapshot: Snapshot | undefined,
  upstreams: readonly UpstreamConfig[],
  find?: FindTools,
  unavailableReason: CatalogView['unavailableReason'] = () => undefined,
): CatalogView {
  const alwaysLoading = new Set(
    upstreams.filter(({ tools }) => tools.alwaysLoad === true).map(({ name }) => name),
  );
  return {
    digests: snapshot?.digests ?? UNLISTED_DIGESTS,
    tools: [...(snapshot?.tools.values() ?? [])],
    prompts: [...(snapshot?.prompts.values() ?? [])],
    resources: [...(snapshot?.resources.values() ?? [])],
    templates: snapshot?.templates ?? [],
    servers: upstreams.map(({ name, description }) => ({
      name,
      description,
      facts: snapshot?.upstreams.get(name)?.facts,
    })),
    unavailableReason,
    tool: (name) => snapshot?.tools.get(name as ExposedName), // The cast is safe for a lookup.
    exposedUri: (upstream, upstreamUri) =>
      snapshot === undefined ? upstreamUri : toExposedUri(snapshot, upstream, upstreamUri),
    mayAlwaysLoad: (upstream) => alwaysLoading.has(upstream),
    tier: createTierLookup(upstreams),
    configuredSelect: createSelectLookup(upstreams),
    search: async (query, options) =>
      snapshot === undefined || find === undefined ? [] : find(snapshot, query, options),
  };
}

function createSelectLookup(upstreams: readonly UpstreamConfig[]): CatalogView['configuredSelect'] {
  const expressions = new Map(
    upstreams.flatMap(({ name, tools: { select = {} } }) =>
      Object.keys(select).length === 0 ? [] : [[name, Object.entries(select)] as const],
    ),
  );
  return ({ upstream, definition }) =>
    expressions.get(upstream)?.find(([glob]) => matchesGlob(definition.name, glob))?.[1];
}

/** The lists that differ. A listing that was fetched again with the same result changes none of them. */
export interface ChangedLists {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** Whether the policy has changed rather than the servers. Each caller may then see other entries. */
  readonly isPolicyChange?: boolean;
}

export function diffLists(before: Snapshot, after: Snapshot): ChangedLists {
  return {
    tools: before.digests.tools !== after.digests.tools,
    prompts: before.digests.prompts !== after.digests.prompts,
    resources: before.digests.resources !== after.digests.resources,
  };
}
