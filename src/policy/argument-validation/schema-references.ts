import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/**
 * Returns a function that resolves references of a schema. The function returns undefined for a reference
 * that has no target in the schema.
 */
export function createReferenceResolver(
  schema: JsonObject,
  nodes: readonly JsonObject[],
): (reference: string) => unknown {
  let anchors: Map<string, JsonObject> | undefined;
  const resolved = new Map<string, unknown>();
  return (reference) => {
    if (!resolved.has(reference)) {
      anchors ??= collectAnchors(nodes);
      resolved.set(reference, resolvePointer(schema, reference) ?? anchors.get(reference));
    }
    return resolved.get(reference);
  };
}

function collectAnchors(nodes: readonly JsonObject[]): Map<string, JsonObject> {
  const anchors = new Map<string, JsonObject>();
  for (const node of nodes) {
    for (const key of ['$anchor', '$dynamicAnchor'])
      if (typeof node[key] === 'string') anchors.set(`#${node[key]}`, node);
    // Older drafts wrote anchors as ids.
    if (typeof node['$id'] === 'string' && node['$id'].startsWith('#')) anchors.set(node['$id'], node);
  }
  return anchors;
}

function resolvePointer(schema: JsonObject, reference: string): unknown {
  if (reference !== '#' && !reference.startsWith('#/')) return undefined;
  let node: unknown = schema;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = unescapeStep(step);
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    // The cast also covers arrays, whose items are read by their index as a key.
    node = (node as JsonObject)[key];
  }
  return isJsonObject(node) || typeof node === 'boolean' ? node : undefined;
}

function unescapeStep(step: string): string {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
  } catch {
    return step; // Invalid percent-encoding is taken literally.
  }
}
