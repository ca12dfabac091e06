import type { Description } from '../config/guards-config.ts';
import { matchesGlob } from '../lib/glob.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';

type Definition = ToolEntry['definition'];
type Describe = (upstream: UpstreamName, definition: Definition) => Definition;

/** What clients read about tools, where the configuration has its own words. Fingerprints are of what the server said. */
export function descriptions(
  upstreams: readonly {
    readonly name: UpstreamName;
    readonly tools: { readonly describe?: Readonly<Record<string, Description>> };
  }[],
): Describe | undefined {
  const own = new Map(
    upstreams
      .map(({ name, tools }) => [name, Object.entries(tools.describe ?? {})] as const)
      .filter(([, entries]) => entries.length > 0),
  );
  if (own.size === 0) return undefined;
  return (upstream, definition) => {
    const [, found] = own.get(upstream)?.find(([glob]) => matchesGlob(definition.name, glob)) ?? [];
    if (found === undefined) return definition;
    if ('replace' in found) return { ...definition, description: found.replace };
    const said = typeof definition.description === 'string' ? definition.description : '';
    return { ...definition, description: said === '' ? found.append : `${said}\n\n${found.append}` };
  };
}
