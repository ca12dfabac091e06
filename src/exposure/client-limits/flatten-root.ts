import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

const ALTERNATIVES = ['anyOf', 'oneOf'] as const;
/** Alternatives nested deeper than this are not merged. */
const MAX_DEPTH = 16;

/**
 * Removes `anyOf`, `oneOf` and `allOf` from the root of an input schema: merges the properties of all branches into one object. A property
 * is required if the root, a branch of `allOf`, or every alternative requires it. Returns the same object if there is nothing to remove.
 */
export function flattenRoot(schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH || !hasAlternatives(schema)) return schema;
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = schema;
  const own = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(stringsIn(schema['required']));
  const properties = new Map<string, unknown>();
  /** Merges the properties of a branch and returns the names that the branch requires. */
  const mergeBranch = (branch: JsonObject): readonly string[] => {
    const flat = flattenRoot(branch, depth + 1);
    if (isJsonObject(flat['properties']))
      for (const [key, value] of Object.entries(flat['properties']))
        if (!properties.has(key)) properties.set(key, value);
    return stringsIn(flat['required']);
  };
  for (const branch of branchesIn(schema['allOf']))
    for (const name of mergeBranch(branch)) required.add(name);
  for (const key of ALTERNATIVES) {
    const requiredSets = branchesIn(schema[key]).map((branch) => new Set(mergeBranch(branch)));
    for (const name of requiredSets[0] ?? [])
      if (requiredSets.every((names) => names.has(name))) required.add(name);
  }
  const allProperties = { ...Object.fromEntries(properties), ...own };
  return {
    ...rest,
    type: 'object',
    ...(Object.keys(allProperties).length === 0 ? {} : { properties: allProperties }),
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
}

/** Whether `flattenRoot` has something to remove. */
export function hasAlternatives(schema: JsonObject): boolean {
  return 'anyOf' in schema || 'oneOf' in schema || 'allOf' in schema;
}

function branchesIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
}
