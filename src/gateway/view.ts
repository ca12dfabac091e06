import { exposedUri } from '../catalog/snapshot.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { UpstreamConfig } from '../config/config.ts';
import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import type { Tier } from '../model/tier.ts';
import { tiers } from '../policy/tiers.ts';
import type { Hit } from '../search/search-index.ts';
import type { Find, FindOptions } from './tool-search.ts';

/** The part of a snapshot that one caller may see. */
export interface View {
  /** One per list that a client can be told about. */
  readonly digests: Snapshot['digests'];
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly servers: readonly {
    readonly name: UpstreamName;
    readonly description?: string;
    readonly facts?: ServerFacts;
  }[];
  /** Why a server cannot be used, or not be searched, at this moment. */
  trouble(server: UpstreamName): string | undefined;
  tool(name: string): ToolEntry | undefined;
  /** How a client must call what an upstream calls `own`. */
  uri(upstream: UpstreamName, own: string): string;
  /** What calling one of its tools can do. */
  tier(entry: ToolEntry): Tier;
  /** Tools by what they do, the best first. */
  search(query: string, options: FindOptions): Promise<readonly Hit[]>;
}

// Equal to no digest, since those are hashes.
const NONE = '' as Fingerprint;
const UNLISTED: Snapshot['digests'] = { tools: NONE, prompts: NONE, resources: NONE };

/** Without a snapshot, what is known of these servers before any of them was listed. */
export function viewOf(
  snapshot: Snapshot | undefined,
  upstreams: readonly UpstreamConfig[],
  find?: Find,
  trouble: View['trouble'] = () => undefined,
): View {
  return {
    digests: snapshot?.digests ?? UNLISTED,
    tools: [...(snapshot?.tools.values() ?? [])],
    prompts: [...(snapshot?.prompts.values() ?? [])],
    resources: [...(snapshot?.resources.values() ?? [])],
    templates: snapshot?.templates ?? [],
    servers: upstreams.map(({ name, description }) => {
      const facts = snapshot?.upstreams.get(name)?.facts;
      return {
        name,
        ...(description === undefined ? {} : { description }),
        ...(facts === undefined ? {} : { facts }),
      };
    }),
    trouble,
    tool: (name) => snapshot?.tools.get(name as ExposedName), // The cast only asks the map.
    uri: (upstream, own) => (snapshot === undefined ? own : exposedUri(snapshot, upstream, own)),
    tier: tiers(upstreams),
    search: async (query, options) =>
      snapshot === undefined || find === undefined ? [] : find(snapshot, query, options),
  };
}

/** Which lists really differ; a server that was only listed again changes nothing for anybody. */
export interface ChangedLists {
  readonly tools: boolean;
  readonly prompts: boolean;
  readonly resources: boolean;
  /** Not what servers offer has changed, but what callers may see of it. */
  readonly byRules?: boolean;
}

export function changedLists(before: Snapshot, after: Snapshot): ChangedLists {
  return {
    tools: before.digests.tools !== after.digests.tools,
    prompts: before.digests.prompts !== after.digests.prompts,
    resources: before.digests.resources !== after.digests.resources,
  };
}
