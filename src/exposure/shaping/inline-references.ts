import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { mapSchema } from './map-schema.ts';

/** A few references to each other can describe more than anybody wants to read. */
const MAX_INLINED = 1000;
const MAX_DEPTH = 16;

/**
 * The schema without `$ref`: what is referred to stands in its place. Only references into the schema itself are
 * followed. Undefined where one goes round in a circle, leads nowhere or too far.
 */
export function inlineReferences(schema: JsonObject): JsonObject | undefined {
  const found = { references: 0, isLost: false };
  const inline = (one: JsonObject, depth: number): JsonObject => {
    const reference = one['$ref'];
    if (typeof reference !== 'string' || found.isLost) return one;
    found.references++;
    const target =
      depth > MAX_DEPTH || found.references > MAX_INLINED ? undefined : resolve(schema, reference);
    if (target === undefined) {
      found.isLost = true;
      return one;
    }
    const { $ref: _, ...beside } = one;
    // What stands beside a reference, such as a description, is said of this place.
    return { ...mapSchema(target, (inner) => inline(inner, depth + 1)), ...beside };
  };
  const { $defs: _defs, definitions: _definitions, ...root } = schema;
  const inlined = mapSchema(root, (one) => inline(one, 0));
  if (found.isLost) return undefined;
  return found.references === 0 ? schema : inlined;
}

function resolve(schema: JsonObject, reference: string): JsonObject | undefined {
  if (!reference.startsWith('#/')) return undefined;
  let at: unknown = schema;
  for (const part of reference.slice(2).split('/')) {
    const key = unescaped(part);
    if (key === undefined || !isJsonObject(at) || !Object.hasOwn(at, key)) return undefined;
    at = at[key];
  }
  return isJsonObject(at) ? at : undefined;
}

function unescaped(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return undefined; // Not an encoding, so that it leads nowhere.
  }
}
