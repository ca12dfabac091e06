import type { ToolDefinition } from './entry.ts';
import { isJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** Where MCP Apps name the page of a tool: the form of the specification, and the older flat one. */
const FLAT = 'ui/resourceUri';

/** The URIs of the pages that a tool brings with it. */
export function uiReferences({ _meta: meta }: ToolDefinition): readonly string[] {
  if (!isJsonObject(meta)) return [];
  const { ui, [FLAT]: flat } = meta;
  const nested = isJsonObject(ui) ? ui['resourceUri'] : undefined;
  return [nested, flat].filter((uri): uri is string => typeof uri === 'string');
}

/** The definition with other URIs for its pages; the same object where none differs. */
export function withUiReferences(definition: ToolDefinition, uriOf: (own: string) => string): ToolDefinition {
  if (uiReferences(definition).every((uri) => uriOf(uri) === uri)) return definition;
  const meta = definition['_meta'] as JsonObject; // There are references, so that it is one.
  const { ui, [FLAT]: flat } = meta;
  const nested = isJsonObject(ui) ? ui['resourceUri'] : undefined;
  return {
    ...definition,
    _meta: {
      ...meta,
      ...(isJsonObject(ui) && typeof nested === 'string'
        ? { ui: { ...ui, resourceUri: uriOf(nested) } }
        : {}),
      ...(typeof flat === 'string' ? { [FLAT]: uriOf(flat) } : {}),
    },
  };
}
