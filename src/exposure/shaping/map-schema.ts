import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** Keywords whose values are schemas, by how they hold them; whatever else a schema has is data. */
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
/** Deeper ones are passed as they are. */
const MAX_DEPTH = 64;

/** Changes a schema and those inside of it, from the inside out; the same object where nothing changed. */
export function mapSchema(
  schema: JsonObject,
  change: (schema: JsonObject) => JsonObject,
  depth = 0,
): JsonObject {
  if (depth > MAX_DEPTH) return schema;
  const inner = (value: unknown): unknown =>
    isJsonObject(value) ? mapSchema(value, change, depth + 1) : value;
  const changed: Record<string, unknown> = {};
  for (const key of SINGLE) keep(changed, schema, key, (value) => inner(value));
  for (const key of LISTS)
    keep(changed, schema, key, (value) => (Array.isArray(value) ? mapped(value, inner) : value));
  for (const key of MAPS)
    keep(changed, schema, key, (value) => (isJsonObject(value) ? mappedValues(value, inner) : value));
  return change(Object.keys(changed).length === 0 ? schema : { ...schema, ...changed });
}

function keep(
  changed: Record<string, unknown>,
  schema: JsonObject,
  key: string,
  map: (value: unknown) => unknown,
): void {
  const before = changed[key] ?? schema[key];
  if (before === undefined) return;
  const after = map(before);
  if (after !== before) changed[key] = after;
}

function mapped(values: readonly unknown[], map: (value: unknown) => unknown): readonly unknown[] {
  const after = values.map((value) => map(value));
  return after.every((value, at) => value === values[at]) ? values : after;
}

function mappedValues(values: JsonObject, map: (value: unknown) => unknown): JsonObject {
  const after = Object.entries(values).map(([key, value]) => [key, map(value)] as const);
  return after.every(([key, value]) => value === values[key]) ? values : Object.fromEntries(after);
}
