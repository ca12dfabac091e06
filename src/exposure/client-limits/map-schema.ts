import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/**
 * Keywords whose values are schemas: a single one, a list, or a map. All other keywords hold data. `items` can be a single schema or, in
 * older drafts, a list.
 */
const SINGLE = [
  'items',
  'additionalItems',
  'additionalProperties',
  'contains',
  'not',
  'if',
  'then',
  'else',
  'propertyNames',
  'unevaluatedItems',
  'unevaluatedProperties',
];
const LISTS = ['anyOf', 'oneOf', 'allOf', 'prefixItems', 'items'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];
/** Schemas nested deeper than this are not changed. */
const MAX_DEPTH = 64;

/** Applies `change` to a schema and its subschemas, innermost first. Returns the same object if nothing changed. */
export function mapSchema(
  schema: JsonObject,
  change: (schema: JsonObject) => JsonObject,
  depth = 0,
): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const inner = (value: unknown): unknown =>
    isJsonObject(value) ? mapSchema(value, change, depth + 1) : value;
  const changed: Record<string, unknown> = {};
  for (const key of SINGLE) mapKeyword(changed, schema, key, (value) => inner(value));
  for (const key of LISTS)
    mapKeyword(changed, schema, key, (value) => (Array.isArray(value) ? mapItems(value, inner) : value));
  for (const key of MAPS)
    mapKeyword(changed, schema, key, (value) => (isJsonObject(value) ? mapValues(value, inner) : value));
  return change(Object.keys(changed).length === 0 ? schema : { ...schema, ...changed });
}

function mapKeyword(
  changed: Record<string, unknown>,
  schema: JsonObject,
  key: string,
  map: (value: unknown) => unknown,
): void {
  // `items` is visited twice, so an earlier change must be kept.
  const before = changed[key] ?? schema[key];
  if (before === undefined) return;
  const after = map(before);
  if (after !== before) changed[key] = after;
}

function mapItems(values: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  const after = values.map((value) => map(value));
  return after.every((value, at) => value === values[at]) ? values : after;
}

function mapValues(values: JsonObject, map: (value: unknown) => unknown): JsonObject {
  const after = Object.entries(values).map(([key, value]) => [key, map(value)] as const);
  return after.every(([key, value]) => value === values[key]) ? values : Object.fromEntries(after);
}
