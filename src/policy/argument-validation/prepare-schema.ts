import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { collectNodes, isAffordable } from './schema-cost.ts';
import { createReferenceResolver } from './schema-references.ts';

/** A schema that can be enforced. */
export interface PreparedSchema {
  readonly root: JsonObject;
  /** Whether the schema uses draft 4 to 7, in which some keywords of 2020-12 do not exist or differ. */
  readonly isOldDraft: boolean;
  /** Whether the schema contains `unevaluatedItems` or `unevaluatedProperties`, which depend on what other keywords evaluated. */
  readonly hasUnevaluated: boolean;
  resolve(reference: string): unknown;
}

const TYPES = new Set(['object', 'array', 'string', 'number', 'integer', 'boolean', 'null']);

/** Keywords whose value is a schema (SINGLE), a list of schemas (LISTS) or a map of schemas (MAPS). */
const SINGLE = [
  'items',
  'additionalItems',
  'contains',
  'additionalProperties',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
  'not',
  'if',
  'then',
  'else',
];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', 'dependencies'];

/**
 * Prepares a schema for validation. Returns undefined for a schema that cannot be enforced: it is too large, uses an unknown type, or has
 * a reference that cannot be resolved inside the schema or leads back to itself. MCP defines 2020-12 as the default dialect.
 */
export function prepareSchema(schema: JsonObject): PreparedSchema | undefined {
  // The id at the top is removed, because local references would otherwise be relative to it.
  const { $schema: dialect, $id: _, id: _id, ...root } = schema;
  const nodes = collectNodes(root);
  if (nodes === undefined) return undefined;
  const resolve = createReferenceResolver(root, nodes);
  const reachable = collectReachable(root, resolve);
  if (reachable === undefined || !isAffordable(reachable, resolve)) return undefined;
  const hasUnevaluated = reachable.some(
    (node) => 'unevaluatedItems' in node || 'unevaluatedProperties' in node,
  );
  const isOldDraft = typeof dialect === 'string' && /draft-0[4-7]/.test(dialect);
  return { root, isOldDraft, hasUnevaluated, resolve };
}

/** Returns all subschemas that a value may be validated with, or undefined if one of them cannot be enforced. */
function collectReachable(
  root: JsonObject,
  resolve: (reference: string) => unknown,
): readonly JsonObject[] | undefined {
  const found = new Set<JsonObject>([root]);
  let [hasReference, hasNestedId] = [false, false];
  // The loop also visits the nodes that are added to the set during the iteration.
  for (const node of found) {
    if (!hasKnownTypes(node)) return undefined;
    for (const reference of [node['$ref'], node['$dynamicRef']]) {
      if (reference === undefined) continue;
      const target = typeof reference === 'string' ? resolve(reference) : undefined;
      if (target === undefined) return undefined;
      if (isJsonObject(target)) found.add(target);
      hasReference = true;
    }
    hasNestedId ||= typeof node['$id'] === 'string' && !node['$id'].startsWith('#');
    // A nested id changes the base of the references inside it, which the resolver does not support.
    if (hasReference && hasNestedId) return undefined;
    for (const child of subschemas(node)) if (isJsonObject(child)) found.add(child);
  }
  return [...found];
}

function* subschemas(node: JsonObject): Generator {
  for (const key of SINGLE) if (node[key] !== undefined) yield node[key];
  for (const key of LISTS) if (Array.isArray(node[key])) yield* node[key] as unknown[];
  for (const key of MAPS) if (isJsonObject(node[key])) yield* Object.values(node[key]);
}

function hasKnownTypes({ type }: JsonObject): boolean {
  if (type === undefined) return true;
  return (Array.isArray(type) ? type : [type]).every((name) => TYPES.has(String(name)));
}
