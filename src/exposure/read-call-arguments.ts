import { findSimilar } from '../core/lib/find-similar.ts';
import { parseExact } from '../core/lib/exact-json.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { invalidArgumentsError, parseObject, refuseUnknownParameters } from './meta-arguments.ts';

const PARAMETERS = ['name', 'arguments', 'select', 'timeoutMs'];
/** Values that are nested deeper than this are not converted. */
const MAX_DEPTH = 6;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/**
 * Reads the arguments of the called tool from those of a call tool, and corrects common mistakes of models: JSON in a string is decoded,
 * parameters of the called tool that stand beside `arguments` are moved into it, and `"42"` becomes a number where the schema wants one.
 * `schema` is undefined for a tool whose listing has not been fetched yet.
 */
export function readCallArguments(metaArguments: JsonObject, metaTool: string, schema: unknown): JsonObject {
  const { name, arguments: given, select: _select, timeoutMs: _timeoutMs, ...others } = metaArguments;
  const args = parseObject(given);
  if (args === undefined)
    throw invalidArgumentsError(
      `arguments must be an object with the arguments of ${String(name).slice(0, 200)}`,
    );
  const properties =
    isJsonObject(schema) && isJsonObject(schema['properties']) ? schema['properties'] : undefined;
  const belongsToTool = (key: string): boolean =>
    properties === undefined ? findSimilar(key, PARAMETERS, 1).length === 0 : Object.hasOwn(properties, key);
  const canMove = Object.keys(others).every((key) => belongsToTool(key) && !Object.hasOwn(args, key));
  if (!canMove) refuseUnknownParameters(metaArguments, metaTool, PARAMETERS);
  const all = Object.keys(others).length === 0 ? args : { ...args, ...others };
  return coerce(all, schema, 0) as JsonObject; // An object stays an object.
}

/** Converts strings to the type that the schema wants, where only one reading is possible. */
function coerce(value: unknown, schema: unknown, depth: number): unknown {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return value;
  const { type, properties, items } = schema;
  if (typeof value === 'string') {
    const parsed = coerceString(value, type);
    return parsed === value ? value : coerce(parsed, schema, depth + 1);
  }
  if (Array.isArray(value)) {
    if (!isJsonObject(items)) return value;
    const coerced = value.map((item: unknown) => coerce(item, items, depth + 1));
    return coerced.some((item, at) => item !== value[at]) ? coerced : value;
  }
  if (!isJsonObject(value) || !isJsonObject(properties)) return value;
  let isChanged = false;
  const members = Object.entries(value).map(([key, member]) => {
    const coerced = Object.hasOwn(properties, key) ? coerce(member, properties[key], depth + 1) : member;
    isChanged ||= coerced !== member;
    return [key, coerced];
  });
  return isChanged ? Object.fromEntries(members) : value;
}

function coerceString(text: string, type: unknown): unknown {
  switch (type) {
    case 'integer':
    case 'number':
      return NUMBER.test(text) ? parseExact(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    case 'array':
      return /^\s*\[/.test(text) ? parseJson(text) : text;
    case 'object':
      return /^\s*\{/.test(text) ? parseJson(text) : text;
    default:
      return text;
  }
}

function parseJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return text; // The validation describes the problem.
  }
}
