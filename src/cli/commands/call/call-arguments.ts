import { parseExact } from '../../../core/lib/exact-json.ts';
import { findSimilar } from '../../../core/lib/find-similar.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { TypedArguments, ArgumentPair } from './typed-arguments.ts';

type JsonTypes = ReadonlySet<string>;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The maximum number of `$ref`s that are followed from one schema, because references can be circular. */
const MAX_REFERENCES = 16;

/** Shorter names are not taken for a misspelt argument. */
const MIN_TYPO_LENGTH = 3;

/** Converts the arguments that the user typed to the types in the input schema. The gateway validates the result as a whole. */
export function buildCallArguments(words: TypedArguments, schema: unknown, tool: string): JsonObject {
  const args: Record<string, unknown> = { ...words.base };
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { key, value } of words.pairs) {
    const unknown = describeUnknownKey(schema, key, words);
    if (unknown !== undefined) problems.push(unknown);
    const path = toPath(schema, key);
    const property = findNestedProperty(schema, path);
    const types = readTypes(property, schema);
    const read = parseValue(value, { key, types, property, schema });
    const [target, name] = openTarget(args, path);
    if ('problem' in read) problems.push(read.problem);
    else if (!seen.has(key))
      setProperty(target, name, isSingleListItem(read.value, types) ? [read.value] : read.value);
    else if (types.has('array')) setProperty(target, name, [target[name], read.value].flat());
    else problems.push(`${key} is given twice`);
    seen.add(key);
  }
  if (problems.length > 0) throw createArgumentsError(tool, problems);
  return args;
}

/** Splits `filter.name` into steps if the schema has the object `filter` and no argument that is itself called `filter.name`. */
function toPath(schema: unknown, key: string): readonly string[] {
  const steps = key.split('.');
  const [first = ''] = steps;
  const isNested = steps.length > 1 && !steps.includes('') && findProperty(schema, key) === undefined;
  const types = isNested ? readTypes(findProperty(schema, first), schema) : undefined;
  const isObject = types?.has('object') === true || (types?.size === 0 && hasProperty(schema, first));
  return isObject ? steps : [key];
}

function findNestedProperty(schema: unknown, path: readonly string[]): unknown {
  let parent = schema;
  for (const step of path) {
    const properties = isJsonObject(parent) ? parent['properties'] : undefined;
    const isKnown = isJsonObject(properties) && Object.hasOwn(properties, step);
    parent = isKnown ? resolveReference(properties[step], schema) : undefined;
  }
  return parent;
}

/** Returns the object that holds the last step of the path. Objects on the way are copied or created. */
function openTarget(
  args: Record<string, unknown>,
  path: readonly string[],
): readonly [target: Record<string, unknown>, name: string] {
  let target = args;
  for (const step of path.slice(0, -1)) {
    const current = Object.hasOwn(target, step) ? target[step] : undefined;
    const next: Record<string, unknown> = isJsonObject(current) ? { ...current } : {};
    setProperty(target, step, next);
    target = next;
  }
  return [target, path.at(-1) ?? ''];
}

/** Returns a problem if the name looks like a misspelt argument. Other names that the schema does not mention may be valid. */
function describeUnknownKey(schema: unknown, key: string, words: TypedArguments): string | undefined {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!isJsonObject(properties) || hasProperty(schema, key) || toPath(schema, key).length > 1)
    return undefined;
  const { additionalProperties: others, patternProperties } = schema as JsonObject;
  if (others === true || isJsonObject(others) || patternProperties !== undefined) return undefined;
  const unusedNames = Object.keys(properties).filter(
    (name) => !Object.hasOwn(words.base, name) && !words.pairs.some((pair) => pair.key === name),
  );
  // Two short names are always similar, so a short one is rejected only if the schema rejects it, too.
  if (key.length < MIN_TYPO_LENGTH && others !== false) return undefined;
  const [near] = findSimilar(key, unusedNames, 1);
  return near === undefined ? undefined : `${key} is not an argument. Did you mean ${near}?`;
}

function hasProperty(schema: unknown, key: string): boolean {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return isJsonObject(properties) && Object.hasOwn(properties, key);
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
