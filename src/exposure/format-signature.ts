import type { ToolEntry } from '../core/entry.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';

/** The maximum characters of all parameters together, for the best hits of a search and for the others. */
export const SIGNATURE_CHARS = { full: 300, short: 120 } as const;
/** Optional parameters after this many are left out. */
const MAX_PARAMETERS = 60;
const MAX_DEPTH = 4;
/** The number of types in a schema that are read. References and alternatives could multiply them. */
const MAX_TYPES = 1_000;
/** Longer lists of values are left out. */
const MAX_VALUES = 30;
// The maximum characters of one type, of one object type, of a quoted parameter name, of a reference, and of a description.
const MAX_TYPE = 60;
const MAX_OBJECT = 120;
const MAX_NAME = 40;
const MAX_REFERENCE = 200;
const MAX_SENTENCE = 120;

/** Returns `name(param: type, optional?: type)`; `…` at the end means that something was left out, however deeply it is nested. */
export function formatSignature(
  { name, definition }: ToolEntry,
  maxChars: number = SIGNATURE_CHARS.full,
): string {
  const root = definition['inputSchema'];
  const position = { root: isJsonObject(root) ? root : {}, depth: 0, isNested: false };
  const { parameters, isCut } = parametersOf(root, {
    ...position,
    members: new Map(),
    budget: { left: MAX_TYPES },
  });
  const fits = (texts: readonly string[]): boolean => joinedLength(texts) <= maxChars;
  const full = parameters.map(({ label, type }) => `${label}: ${type.full}`);
  if (!isCut && fits(full) && parameters.every(({ type }) => type.isWhole))
    return `${name}(${full.join(', ')})`;
  // Parts are left out in this order until the signature fits: listed values, optional parameters from the
  // end, types, required parameters.
  const texts = fits(full) ? full : parameters.map(({ label, type }) => `${label}: ${type.plain}`);
  for (let at = texts.length - 1; at >= 0 && !fits(texts); at -= 1) {
    if (parameters[at]?.isRequired === false) texts.splice(at, 1);
  }
  const required = fits(texts) ? texts : texts.map((text) => text.slice(0, text.indexOf(':')));
  while (!fits(required)) required.pop();
  return `${name}(${[...required, '…'].join(', ')})`;
}

/** Returns the first sentence of a description on one line, truncated at a word. */
export function firstSentence(text: unknown, maxChars = MAX_SENTENCE): string {
  if (typeof text !== 'string') return '';
  const line = oneLine(text.slice(0, 10 * maxChars));
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|approx))[.!?](?=\s|$)|[。！？]/u.exec(line);
  const sentence = end === null ? line : line.slice(0, end.index + 1);
  if (sentence.length <= maxChars) return sentence;
  const cut = sentence.slice(0, maxChars);
  const word = cut.lastIndexOf(' ');
  // A surrogate pair is not split.
  const shortened = word > maxChars / 2 ? cut.slice(0, word) : cut.replace(/[\uD800-\uDBFF]$/, '');
  return `${shortened.replace(/[\s,;:.]+$/, '')}…`;
}

/** Removes line breaks and invisible characters. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
}

interface Type {
  readonly full: string;
  /** The type without its listed values. */
  readonly plain: string;
  /** Whether nothing was left out of `full`. */
  readonly isWhole: boolean;
}

interface Parameter {
  readonly label: string;
  readonly isRequired: boolean;
  readonly type: Type;
}

/** Returns the required parameters, then the optional ones, both in the order of the schema. */
function parametersOf(
  node: unknown,
  position: TypePosition,
): { readonly parameters: readonly Parameter[]; readonly isCut: boolean } {
  const schema = isJsonObject(node) ? node : {};
  // Several references may lead to the same schema.
  let members = position.members.get(schema);
  if (members === undefined) position.members.set(schema, (members = selectMembers(schema)));
  const parameters = members.shown.map(({ name, schema: member, isRequired }) => {
    const label = /^[\w$.-]{1,64}$/.test(name)
      ? name
      : JSON.stringify(oneLine(name.slice(0, 10 * MAX_NAME)).slice(0, MAX_NAME));
    return { label: isRequired ? label : `${label}?`, isRequired, type: typeOf(member, position) };
  });
  return { parameters, isCut: members.isCut };
}

interface Members {
  readonly shown: readonly {
    readonly name: string;
    readonly schema: unknown;
    readonly isRequired: boolean;
  }[];
  readonly isCut: boolean;
}

function selectMembers(schema: JsonObject): Members {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const names: string[] = [];
  let isCut = false;
  // Not `Object.keys`: a schema with a million properties must not be copied to read some of them.
  for (const name in properties) {
    if (names.length >= MAX_PARAMETERS && !required.has(name)) isCut = true;
    else if (names.push(name) >= 2 * MAX_PARAMETERS) break;
  }
  const shown = names.map((name) => ({ name, schema: properties[name], isRequired: required.has(name) }));
  return { shown: shown.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired)), isCut };
}

/** Returns the length of texts that are joined with commas. */
function joinedLength(texts: readonly string[]): number {
  return texts.reduce((length, text) => length + text.length + 2, -2);
}

const ANY: Type = plainTypeOf('any');

interface TypePosition {
  readonly root: JsonObject;
  readonly depth: number;
  /** The members of the schemas that were read. */
  readonly members: Map<JsonObject, Members>;
  readonly budget: { left: number };
  /** Whether the type is a member of an object type. If so, objects in it are not expanded. */
  readonly isNested: boolean;
}

function typeOf(node: unknown, position: TypePosition): Type {
  if (!isJsonObject(node) || position.depth > MAX_DEPTH) return ANY;
  if (--position.budget.left < 0) return { ...ANY, isWhole: false };
  const deeper = { ...position, depth: position.depth + 1 };
  const { type, enum: values, const: value, $ref: reference, items } = node;
  if (Array.isArray(values)) return enumType(values, plainType(type, values));
  if (value !== undefined) return enumType([value], plainType(type, [value]));
  if (typeof reference === 'string') return typeOf(resolveReference(position.root, reference), deeper);
  if (type === 'array') return arrayOf(typeOf(items, deeper));
  const choices = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(choices)) return unionOf(choices.slice(0, 8).map((schema) => typeOf(schema, deeper)));
  if (Array.isArray(type))
    return unionOf(type.slice(0, 8).map((name: unknown) => typeOf({ ...node, type: name }, deeper)));
  if (isJsonObject(node['properties']) && (type === undefined || type === 'object'))
    return objectType(node, deeper);
  return typeof type === 'string' && /^[a-z]{1,10}$/.test(type) ? plainTypeOf(type) : ANY;
}

/** Formats an object type with as many of its members as fit. Objects inside it are not expanded. */
function objectType(node: JsonObject, position: TypePosition): Type {
  const hidden: Type = { full: 'object', plain: 'object', isWhole: false };
  if (position.isNested) return hidden;
  const { parameters, isCut } = parametersOf(node, { ...position, isNested: true });
  if (parameters.length === 0) return plainTypeOf('object');
  const texts = parameters.map(({ label, type }) => `${label}: ${type.full}`);
  const count = texts.length;
  while (joinedLength(texts) > MAX_OBJECT) texts.pop();
  if (texts.length === 0) return hidden;
  const isWhole = !isCut && texts.length === count && parameters.every(({ type }) => type.isWhole);
  const rest = isCut || texts.length < count ? ', …' : '';
  return { full: `{${texts.join(', ')}${rest}}`, plain: 'object', isWhole };
}

function plainTypeOf(text: string): Type {
  return { full: text, plain: text, isWhole: true };
}

function enumType(values: readonly unknown[], plain: string): Type {
  const isCut = values.length === 0 || values.length > MAX_VALUES || !values.every(isShortValue);
  const full = isCut ? '' : values.map((value) => oneLine(JSON.stringify(value))).join('|');
  return isCut || full.length > MAX_TYPE
    ? { full: plain, plain, isWhole: false }
    : { full, plain, isWhole: true };
}

/** Whether a listed value can be part of a signature. It is checked before it is written, because it may have megabytes. */
function isShortValue(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= MAX_TYPE : typeof value !== 'object' || value === null;
}

function plainType(type: unknown, values: readonly unknown[]): string {
  if (typeof type === 'string' && /^[a-z]{1,10}$/.test(type)) return type;
  const kinds = new Set(values.slice(0, MAX_VALUES).map((value) => typeof value));
  const [kind] = kinds;
  return kinds.size === 1 && kind !== undefined && kind !== 'object' ? kind : 'any';
}

function arrayOf({ full, plain, isWhole }: Type): Type {
  const wrap = (text: string): string => (/^[^{]*\|/.test(text) ? `(${text})[]` : `${text}[]`);
  return { full: wrap(full), plain: wrap(plain), isWhole };
}

/** Joins alternatives. `null` is left out, because a model does not need it. */
function unionOf(types: readonly Type[]): Type {
  const rest = types.filter(({ full }) => full !== 'null');
  const join = (texts: readonly string[]): string => [...new Set(texts)].join('|');
  const full = join(rest.map((type) => type.full));
  const plain = join(rest.map((type) => type.plain));
  if (full === '' || full.split('|').includes('any')) return ANY;
  const isShort = full.length <= (full.includes('{') ? MAX_OBJECT : MAX_TYPE);
  const shortest = isShort ? full : plain.length <= MAX_TYPE ? plain : 'any';
  return {
    full: shortest,
    plain: isShort ? plain : shortest,
    isWhole: isShort && rest.every(({ isWhole }) => isWhole),
  };
}

/** Resolves references to definitions of the schema itself; other references are not followed. */
function resolveReference(root: JsonObject, reference: string): unknown {
  if (reference.length > MAX_REFERENCE) return undefined;
  const [, keyword, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = keyword === undefined ? undefined : root[keyword];
  return isJsonObject(definitions) && name !== undefined ? definitions[name] : undefined;
}
