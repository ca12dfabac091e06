import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { mapSchema } from './map-schema.ts';

/** Nested references can expand exponentially, so the number of inlined references is limited. */
const MAX_INLINED = 1000;
/** References nested deeper than this count as circular. */
const MAX_DEPTH = 16;
/** The maximum number of characters that inlining may add to one definition. */
const MAX_GROWTH = 200_000;

/**
 * Replaces every `$ref` with its target. Only references into the schema itself are followed. Returns undefined if a
 * reference is circular or has no target, if there are too many, or if the schema would become too large. `growth.left` is the number of
 * characters by which all definitions of one server may still grow; it is reduced by the growth of this schema.
 */
export function inlineReferences(
  schema: JsonObject,
  growth: { left: number } = { left: MAX_GROWTH },
): JsonObject | undefined {
  const progress = { references: 0, hasFailed: false };
  const lengths = new Map<JsonObject, number>();
  const limit = Math.min(MAX_GROWTH, growth.left);
  let chars = 0;
  const isTooLarge = (target: JsonObject): boolean => {
    let length = lengths.get(target);
    if (length === undefined) lengths.set(target, (length = JSON.stringify(target).length));
    chars += length;
    return chars > limit;
  };
  const inline = (node: JsonObject, depth: number): JsonObject => {
    const reference = node['$ref'];
    if (typeof reference !== 'string' || progress.hasFailed) return node;
    progress.references++;
    const target =
      depth > MAX_DEPTH || progress.references > MAX_INLINED ? undefined : resolve(schema, reference);
    if (target === undefined || isTooLarge(target)) {
      progress.hasFailed = true;
      return node;
    }
    const { $ref: _, ...siblings } = node;
    // Keywords beside a reference, such as a description, override those of the target.
    return { ...mapSchema(target, (inner) => inline(inner, depth + 1)), ...siblings };
  };
  const { $defs: _defs, definitions: _definitions, ...root } = schema;
  const inlined = mapSchema(root, (node) => inline(node, 0));
  if (progress.hasFailed) return undefined;
  growth.left -= chars;
  return progress.references === 0 ? schema : inlined;
}

function resolve(schema: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let node: unknown = schema;
  for (const part of reference.slice(2).split('/')) {
    const key = unescapePointer(part);
    if (key === undefined || !isJsonObject(node) || !Object.hasOwn(node, key)) return undefined;
    node = node[key];
  }
  return isJsonObject(node) ? node : undefined;
}

function unescapePointer(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined; // Invalid percent-encoding, so the reference has no target.
  }
}
