import type { ToolDefinition } from './entry.ts';
import { isJsonObject } from './json.ts';
import type { JsonObject } from './json.ts';

/** The older, flat key for the page of a tool in MCP Apps; the specification nests it under `ui`. */
const FLAT = 'ui/resourceUri';

/** Returns the URIs of a tool's MCP Apps pages. */
export function listUiReferences({ _meta: meta }: ToolDefinition): readonly string[] {
  if (!isJsonObject(meta)) return [];
  const { ui, [FLAT]: flat } = meta;
  const nested = isJsonObject(ui) ? ui['resourceUri'] : undefined;
  return [nested, flat].filter((uri): uri is string => typeof uri === 'string');
}

/**
 * Returns the part of `_meta` that names the tool's pages, or undefined if there is none. This is the only part that a model reads, because
 * approvals do not cover the numbers and ids in the rest. URIs whose form could contain a sentence are left out.
 */
export function pickPageReferences({ _meta: meta }: ToolDefinition): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  const { ui, [FLAT]: flat } = meta;
  const nested = isJsonObject(ui) ? ui['resourceUri'] : undefined;
  const hasNested = isPlainUri(nested);
  const hasFlat = isPlainUri(flat);
  if (!hasNested && !hasFlat) return undefined;
  return { ui: hasNested ? { resourceUri: nested } : undefined, [FLAT]: hasFlat ? flat : undefined };
}

function isPlainUri(uri: unknown): boolean {
  return typeof uri === 'string' && /^[\w.~:/?#%&=+@-]{1,300}$/.test(uri);
}

/** Returns the definition with its page URIs mapped by `uriOf`, or the same object if no URI changes. */
export function withUiReferences(definition: ToolDefinition, uriOf: (own: string) => string): ToolDefinition {
  if (listUiReferences(definition).every((uri) => uriOf(uri) === uri)) return definition;
  const meta = definition['_meta'] as JsonObject; // A URI differs, so `_meta` has references and is an object.
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
