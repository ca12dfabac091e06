import { parseExact } from '../../../lib/exact-json.ts';
import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { CallWords, Pair } from './call-words.ts';

type Types = ReadonlySet<string>;

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** References that lead on to references; more is a circle or a joke. */
const MAX_STEPS = 16;

/** The arguments that typed words mean for a tool with this input schema; whether they fit as a whole is judged later. */
export function callArguments(words: CallWords, schema: unknown, tool: string): JsonObject {
  const args: Record<string, unknown> = { ...words.base };
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { key, value } of words.pairs) {
    const property = propertyOf(schema, key);
    const types = typesOf(property, schema);
    const read = valueOf(value, { key, types, property, schema });
    if ('problem' in read) problems.push(read.problem);
    else if (!seen.has(key)) set(args, key, isListed(read.value, types) ? [read.value] : read.value);
    else if (types.has('array')) set(args, key, [args[key], read.value].flat());
    else problems.push(`${key} is given twice`);
    seen.add(key);
  }
  if (problems.length > 0) throw misfit(tool, problems);
  return args;
}

/** What the gateway found wrong with arguments, as a person reads it; undefined for every other error. */
export function misfitOf(error: unknown, name: string): GatewayError | undefined {
  const problems = error instanceof GatewayError ? error.details['problems'] : undefined;
  return Array.isArray(problems) ? misfit(name, problems.map(String)) : undefined;
}

/** Field by field, as a person reads it. */
function misfit(tool: string, problems: readonly string[]): GatewayError {
  const lines = problems.map((problem) => `  ${problem}`).join('\n');
  return new GatewayError(
    'ARGUMENTS_INVALID',
    `The arguments do not fit ${tool}, and were not sent:\n${lines}`,
    { details: { problems } },
  );
}

interface Place {
  readonly key: string;
  readonly types: Types;
  readonly property: unknown;
  readonly schema: unknown;
}

function valueOf(value: Pair['value'], place: Place): { value: unknown } | { problem: string } {
  if ('json' in value) return { value: value.json };
  const { key, types, property, schema } = place;
  const { text } = value;
  // Any text fits a string, so other types are tried only where a string is not allowed.
  if (types.size === 0 || types.has('string')) return { value: text };
  const read = scalarOf(text, types);
  if (read !== undefined) return read;
  if (types.has('array') || types.has('object')) {
    const parsed = jsonOf(text);
    if (Array.isArray(parsed) ? types.has('array') : isJsonObject(parsed) && types.has('object'))
      return { value: parsed };
  }
  if (types.has('array')) {
    const items = isJsonObject(property) ? resolved(property['items'], schema) : undefined;
    return valueOf(value, { key, types: typesOf(items, schema), property: items, schema });
  }
  return { problem: `${key} must be ${named(types)}, and "${text.slice(0, 60)}" is not` };
}

function scalarOf(text: string, types: Types): { value: unknown } | undefined {
  if ((types.has('number') || types.has('integer')) && NUMBER.test(text)) return { value: parseExact(text) };
  if (types.has('boolean') && (text === 'true' || text === 'false')) return { value: text === 'true' };
  if (types.has('null') && (text === 'null' || text === '')) return { value: null };
  return undefined;
}

/** One value of a list that was given without brackets. */
function isListed(value: unknown, types: Types): boolean {
  return (
    types.has('array') &&
    !types.has('string') &&
    !Array.isArray(value) &&
    !(isJsonObject(value) && types.has('object'))
  );
}

function named(types: Types): string {
  const names = [...types].map((type) =>
    type === 'object'
      ? 'a JSON object'
      : type === 'null'
        ? 'null'
        : `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`,
  );
  return names.join(' or ');
}

/** The name comes from the command line, and may be one that means something to an object. */
function set(args: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(args, key, { value, enumerable: true, configurable: true, writable: true });
}

function propertyOf(schema: unknown, key: string): unknown {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  if (!isJsonObject(properties) || !Object.hasOwn(properties, key)) return undefined;
  return resolved(properties[key], schema);
}

/** Follows references inside the same document. */
function resolved(schema: unknown, root: unknown): unknown {
  let at = schema;
  for (let steps = 0; steps < MAX_STEPS && isJsonObject(at) && typeof at['$ref'] === 'string'; steps++) {
    if (!at['$ref'].startsWith('#/')) return undefined;
    at = at['$ref']
      .slice(2)
      .split('/')
      .reduce<unknown>((value, step) => {
        const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
        return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
      }, root);
  }
  return at;
}

/** Which JSON types a schema admits, as far as it says so; none when it does not. */
function typesOf(schema: unknown, root: unknown): Types {
  if (!isJsonObject(schema)) return new Set();
  const { type, anyOf, oneOf, enum: values } = schema;
  if (typeof type === 'string') return new Set([type]);
  if (Array.isArray(type)) return new Set(type.filter((each): each is string => typeof each === 'string'));
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (branches !== undefined)
    return new Set(branches.flatMap((branch: unknown) => [...typesOf(resolved(branch, root), {})]));
  if (Array.isArray(values)) return new Set(values.map(typeName));
  return 'const' in schema ? new Set([typeName(schema['const'])]) : new Set();
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function jsonOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch {
    return undefined; // Plain text.
  }
}
