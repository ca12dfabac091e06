import type { UpstreamConfig } from '../config/config.ts';
import type { UpstreamName } from '../model/ids.ts';
import { matchesGlob } from '../lib/glob.ts';

/** Whether the `tools` lists of an upstream's config let a tool of it be seen; deny wins. */
export function toolLists(
  upstreams: readonly UpstreamConfig[],
): (upstream: UpstreamName, tool: string) => boolean {
  const lists = new Map(upstreams.map(({ name, tools }) => [name, tools]));
  return (upstream, tool) => {
    const list = lists.get(upstream);
    if (list === undefined) return false;
    const isNamed = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(tool, glob));
    return isNamed(list.allow) && !isNamed(list.deny);
  };
}
