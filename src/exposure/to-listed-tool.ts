import type { CatalogView } from '../gateway/catalog-view.ts';
import type { ToolDefinition, ToolEntry } from '../core/entry.ts';
import { withUiReferences } from '../core/ui-references.ts';

/**
 * Returns a definition as clients see it: with its exposed name, and with URIs of UI pages that clients can
 * read through the gateway.
 */
export function toListedTool(entry: ToolEntry, view: CatalogView): ToolDefinition {
  const definition = withUiReferences(entry.definition, (upstreamUri) =>
    view.exposedUri(entry.upstream, upstreamUri),
  );
  return { ...definition, name: entry.name };
}
