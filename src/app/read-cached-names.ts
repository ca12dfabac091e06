import { mergeListings } from '../catalog/snapshot.ts';
import { readWarmFile } from '../catalog/warm-file.ts';
import type { ConfigSnapshot } from '../config/config.ts';
import type { ToolEntry } from '../core/entry.ts';
import { createToolFilter } from '../policy/tool-settings.ts';

/** Names from the catalog of the last run, as clients see them. */
export interface CachedNames {
  readonly servers: readonly string[];
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly string[];
  readonly resources: readonly string[];
}

/** Reads the names for shell completion from one file, without validating the configuration or starting a server. */
export function readCachedNames(stateDir: string, build: string): CachedNames {
  const warm = readWarmFile(stateDir, build);
  // The cast is safe: the same build wrote the file from a snapshot.
  const config = warm?.config?.snapshot as ConfigSnapshot | undefined;
  if (warm === undefined || config === undefined)
    return { servers: [], tools: [], prompts: [], resources: [] };
  const { upstreams, names } = config.value;
  const current = new Map(upstreams.map(({ name, fingerprint }) => [name, fingerprint]));
  const listings = warm.listings.filter((listing) => current.get(listing.upstream) === listing.config);
  const snapshot = mergeListings(listings, {
    separator: names.separator,
    allows: createToolFilter(upstreams),
  });
  return {
    servers: [...upstreams.map(({ name }) => name), ...config.disabled],
    tools: [...snapshot.tools.values()],
    prompts: [...snapshot.prompts.keys()],
    resources: [...snapshot.resources.keys()],
  };
}
