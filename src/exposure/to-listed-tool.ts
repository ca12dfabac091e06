import type { CatalogView } from '../gateway/catalog-view.ts';
import type { ToolDefinition, ToolEntry } from '../core/entry.ts';
import { isJsonObject } from '../core/json.ts';
import { withUiReferences } from '../core/ui-references.ts';
import { ALWAYS_LOAD } from './meta-tools.ts';

/**
 * Returns a definition as clients see it: with its exposed name and with URIs of UI pages that clients can read through the gateway. The
 * mark that keeps a tool in the context of every request is removed, unless the user allows the server to set it.
 */
export function toListedTool(entry: ToolEntry, view: CatalogView): ToolDefinition {
  const definition = withUiReferences(entry.definition, (upstreamUri) =>
    view.exposedUri(entry.upstream, upstreamUri),
  );
  const { _meta: meta } = definition;
  if (!isJsonObject(meta) || meta[ALWAYS_LOAD] === undefined || view.mayAlwaysLoad(entry.upstream))
    return { ...definition, name: entry.name };
  const { [ALWAYS_LOAD]: _, ...others } = meta;
  return { ...definition, name: entry.name, _meta: others };
}
