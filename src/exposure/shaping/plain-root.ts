import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

const ALTERNATIVES = ['anyOf', 'oneOf'] as const;
/** Deeper alternatives say nothing about the root any more. */
const MAX_DEPTH = 16;

/**
 * An input schema without `anyOf`, `oneOf` and `allOf` at its root: the properties of all branches become those of one object, and
 * what every alternative requires stays required. The same object where there is nothing of them.
 */
export function plainRoot(schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH || !['anyOf', 'oneOf', 'allOf'].some((key) => key in schema)) return schema;
  const { anyOf: _any, oneOf: _one, allOf: _all, ...rest } = schema;
  const own = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(namesIn(schema['required']));
  let properties: JsonObject = {};
  const take = (branch: JsonObject): readonly string[] => {
    const plain = plainRoot(branch, depth + 1);
    if (isJsonObject(plain['properties'])) properties = { ...plain['properties'], ...properties };
    return namesIn(plain['required']);
  };
  for (const branch of branches(schema['allOf'])) for (const name of take(branch)) required.add(name);
  for (const key of ALTERNATIVES) {
    const needed = branches(schema[key]).map((branch) => new Set(take(branch)));
    for (const name of needed[0] ?? []) if (needed.every((names) => names.has(name))) required.add(name);
  }
  const all = { ...properties, ...own };
  return {
    ...rest,
    type: 'object',
    ...(Object.keys(all).length === 0 ? {} : { properties: all }),
    ...(required.size === 0 ? {} : { required: [...required] }),
  };
}

function branches(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name): name is string => typeof name === 'string') : [];
}
