import type { UpstreamConfig } from '../config/config.ts';
import type { ToolDescriptionOverride } from '../config/guards-config.ts';
import type { ToolDefinition } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { matchesGlob } from '../core/lib/matches-glob.ts';

/** Returns a function that tells whether `tools.allow` and `tools.deny` of an upstream let clients see a tool. `deny` wins. */
export function createToolFilter(
  upstreams: readonly UpstreamConfig[],
): (upstream: UpstreamName, tool: string) => boolean {
  const settings = new Map(upstreams.map(({ name, tools }) => [name, tools]));
  return (upstream, tool) => {
    const tools = settings.get(upstream);
    if (tools === undefined) return false;
    const matchesAny = (globs: readonly string[]): boolean => globs.some((glob) => matchesGlob(tool, glob));
    return matchesAny(tools.allow) && !matchesAny(tools.deny);
  };
}

type OverrideDescription = (upstream: UpstreamName, definition: ToolDefinition) => ToolDefinition;

/**
 * Returns a function that applies `tools.describe`, which replaces or extends the descriptions that clients read. Returns undefined if no
 * upstream uses that setting. Fingerprints for approvals still cover the server's own text.
 */
export function createDescriptionOverrides(
  upstreams: readonly {
    readonly name: UpstreamName;
    readonly tools: { readonly describe?: Readonly<Record<string, ToolDescriptionOverride>> };
  }[],
): OverrideDescription | undefined {
  const overrides = new Map(
    upstreams
      .map(({ name, tools }) => [name, Object.entries(tools.describe ?? {})] as const)
      .filter(([, entries]) => entries.length > 0),
  );
  if (overrides.size === 0) return undefined;
  return (upstream, definition) => {
    const [, override] = overrides.get(upstream)?.find(([glob]) => matchesGlob(definition.name, glob)) ?? [];
    if (override === undefined) return definition;
    if ('replace' in override) return { ...definition, description: override.replace };
    const original = typeof definition.description === 'string' ? definition.description : '';
    return {
      ...definition,
      description: original === '' ? override.append : `${original}\n\n${override.append}`,
    };
  };
}
