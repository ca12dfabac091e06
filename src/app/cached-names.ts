import { merge } from '../catalog/snapshot.ts';
import { readWarm } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { ToolEntry } from '../model/entry.ts';
import { toolLists } from '../policy/tool-lists.ts';

/** What the last run left behind, under the names that clients see. */
export interface CachedNames {
  readonly servers: readonly string[];
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

/** For shells that complete names: one file is read, no configuration is checked, nothing is started. */
export function cachedNames(stateDir: string, build: string): CachedNames {
  const warm = readWarm(stateDir, build);
  // Our own file of this very version, written from a snapshot.
  const config = warm?.config?.snapshot as ConfigSnapshot | undefined;
  if (warm === undefined || config === undefined)
    return { servers: [], tools: [], prompts: [], resources: [] };
  const { upstreams, names } = config.value;
  const current = new Map(upstreams.map(({ name, fingerprint }) => [name, fingerprint]));
  const listings = warm.listings.filter((listing) => current.get(listing.upstream) === listing.config);
  const snapshot = merge(listings, { separator: names.separator, allows: toolLists(upstreams) });
  return {
    servers: [...upstreams.map(({ name }) => name), ...config.disabled],
    tools: [...snapshot.tools.values()],
    prompts: [...snapshot.prompts.keys()],
    resources: [...snapshot.resources.keys()],
  };
}
