import { parseExact } from '../../../core/lib/exact-json.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { TypedArguments, ArgumentPair } from './typed-arguments.ts';

type JsonTypes = ReadonlySet<string>;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The maximum number of `$ref`s that are followed from one schema, because references can be circular. */
const MAX_REFERENCES = 16;

/** Converts the arguments that the user typed to the types in the input schema. The gateway validates the result as a whole. */
export function buildCallArguments(words: TypedArguments, schema: unknown, tool: string): JsonObject {
  const args: Record<string, unknown> = { ...words.base };
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { key, value } of words.pairs) {
    const property = findProperty(schema, key);
    const types = readTypes(property, schema);
    const read = parseValue(value, { key, types, property, schema });
    if ('problem' in read) problems.push(read.problem);
    else if (!seen.has(key))
      setProperty(args, key, isSingleListItem(read.value, types) ? [read.value] : read.value);
    else if (types.has('array')) setProperty(args, key, [args[key], read.value].flat());
    else problems.push(`${key} is given twice`);
    seen.add(key);
  }
  if (problems.length > 0) throw createArgumentsError(tool, problems);
  return args;
}

/** Formats an error about invalid arguments for people. Returns undefined for other errors. */
export function toArgumentsError(error: unknown, name: string): GatewayError | undefined {
  const problems = error instanceof GatewayError ? error.details['problems'] : undefined;
  return Array.isArray(problems) ? createArgumentsError(name, problems.map(String)) : undefined;
}

function createArgumentsError(tool: string, problems: readonly string[]): GatewayError {
  const lines = problems.map((problem) => `  ${problem}`).join('\n');
  return new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not match the input schema of ${tool}, so they were not sent:\n${lines}`,
    { details: { problems } },
  );
}

interface PropertyContext {
  readonly key: string;
  readonly types: JsonTypes;
  readonly property: unknown;
  readonly schema: unknown;
}

function parseValue(
  value: ArgumentPair['value'],
  { key, types, property, schema }: PropertyContext,
): { value: unknown } | { problem: string } {
  if ('json' in value) return { value: value.json };
  const { text } = value;
  // Any text is a valid string, so other types are tried only if a string is not allowed.
  if (types.size === 0 || types.has('string')) return { value: text };
  const read = parseScalar(text, types);
  if (read !== undefined) return read;
  if (types.has('array') || types.has('object')) {
    const parsed = parseJson(text);
    if (Array.isArray(parsed) ? types.has('array') : isJsonObject(parsed) && types.has('object'))
      return { value: parsed };
  }
  // The text is one item of a list without brackets. `buildCallArguments` puts it into an array.
  if (types.has('array')) {
    const items = isJsonObject(property) ? resolveReference(property['items'], schema) : undefined;
    return parseValue(value, { key, types: readTypes(items, schema), property: items, schema });
  }
  return { problem: `${key} must be ${formatTypes(types)}, but is "${text.slice(0, 60)}"` };
}

function parseScalar(text: string, types: JsonTypes): { value: unknown } | undefined {
  if ((types.has('number') || types.has('integer')) && NUMBER.test(text)) return { value: parseExact(text) };
  if (types.has('boolean') && (text === 'true' || text === 'false')) return { value: text === 'true' };
  if (types.has('null') && (text === 'null' || text === '')) return { value: null };
  return undefined;
}

/** Whether a value is a single item that must be put into an array, because the user gave the list without brackets. */
function isSingleListItem(value: unknown, types: JsonTypes): boolean {
  return (
    types.has('array') &&
    !types.has('string') &&
    !Array.isArray(value) &&
    !(isJsonObject(value) && types.has('object'))
  );
}

function formatTypes(types: JsonTypes): string {
  const names = [...types].map((type) =>
    type === 'object'
      ? 'a JSON object'
      : type === 'null'
        ? 'null'
        : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`,
  );
  return names.join(' or ');
}

/** Defines the property, because an assignment to a key such as `__proto__` would change the object's prototype. */
function setProperty(args: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(args, key, { value, enumerable: true, configurable: true, writable: true });
}

function findProperty(schema: unknown, key: string): unknown {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, key)) return undefined;
  return resolveReference(properties[key], schema);
}

/** Follows `$ref`s inside the same document (JSON Pointers). Returns undefined for other references. */
function resolveReference(schema: unknown, root: unknown): unknown {
  let current = schema;
  for (
    let steps = 0;
    steps < MAX_REFERENCES && isJsonObject(current) && typeof current['$ref'] === 'string';
    steps++
  ) {
    if (!current['$ref'].startsWith('#/')) return undefined;
    current = current['$ref']
      .slice(2)
      .split('/')
      .reduce<unknown>((value, step) => {
        const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
        return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      }, root);
  }
  return current;
}

/** Returns the JSON types that a schema allows. The set is empty if the schema does not restrict them. */
function readTypes(schema: unknown, root: unknown): JsonTypes {
  if (!isJsonObject(schema)) return new Set();
  const { type, anyOf, oneOf, enum: values } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((name): name is string => typeof name === 'string'));
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  // Inside a branch, no further reference is resolved (the root is empty), because branches can refer to each other in a circle.
  if (branches !== undefined)
    return new Set(branches.flatMap((branch: unknown) => [...readTypes(resolveReference(branch, root), {})]));
  if (Array.isArray(values)) return new Set(values.map(jsonTypeOf));
  return 'const' in schema ? new Set([jsonTypeOf(schema['const'])]) : new Set();
}

function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function parseJson(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined; // The text is not JSON.
  }
}
