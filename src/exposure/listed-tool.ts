import type { View } from '../gateway/view.ts';
import type { ToolDefinition, ToolEntry } from '../model/entry.ts';
import { withUiReferences } from '../model/ui-references.ts';

/** A definition as clients see it: under its exposed name, with pages of its own that they can read through us. */
export function listedTool(entry: ToolEntry, view: View): ToolDefinition {
  const definition = withUiReferences(entry.definition, (own) => view.uri(entry.upstream, own));
  return { ...definition, name: entry.name };
}
