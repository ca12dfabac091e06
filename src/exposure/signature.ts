import type { ToolEntry } from '../model/entry.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

const MAX_CHARS = 180;
const MAX_PARAMETERS = 60;
const MAX_DEPTH = 4;
const MAX_TYPE = 60;
const MAX_NAME = 40;
const MAX_SENTENCE = 120;

/** `name(param: type, optional?: type)`; what had to be left out is told by `…` at the end. */
export function signature({ name, definition }: ToolEntry): string {
  const root = definition['inputSchema'];
  const { parameters, isCut } = parametersOf(root);
  const enough = (texts: readonly string[]): boolean => texts.join(', ').length <= MAX_CHARS;
  const full = parameters.map(({ label, type }) => `${label}: ${type.full}`);
  if (!isCut && enough(full) && parameters.every(({ type }) => type.isWhole))
    return `${name}(${full.join(', ')})`;
  // The longest of what is said precisely gives way first, then optional parameters, then types.
  const texts = enough(full) ? full : parameters.map(({ label, type }) => `${label}: ${type.plain}`);
  for (let at = texts.length - 1; at >= 0 && !enough(texts); at -= 1) {
    if (parameters[at]?.isRequired === false) texts.splice(at, 1);
  }
  const required = enough(texts) ? texts : texts.map((text) => text.slice(0, text.indexOf(':')));
  while (!enough(required)) required.pop();
  return `${name}(${[...required, '…'].join(', ')})`;
}

/** The first sentence of a description on one line, cut at a word. */
export function firstSentence(text: unknown, maxChars = MAX_SENTENCE): string {
  if (typeof text !== 'string') return '';
  const line = oneLine(text.slice(0, 10 * maxChars));
  const end = /(?<!\b(?:e\.g|i\.e|etc|vs|approx))[.!?](?=\s|$)|[。！？]/u.exec(line);
  const sentence = end === null ? line : line.slice(0, end.index + 1);
  if (sentence.length <= maxChars) return sentence;
  const cut = sentence.slice(0, maxChars);
  const word = cut.lastIndexOf(' ');
  // A surrogate pair is not cut in two.
  const kept = word > maxChars / 2 ? cut.slice(0, word) : cut.replace(/[\uD800-\uDBFF]$/, '');
  return `${kept.replace(/[\s,;:.]+$/, '')}…`;
}

/** Nothing in it begins a new line or hides. */
function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').trim();
}

interface Type {
  readonly full: string;
  /** Without listed values. */
  readonly plain: string;
  /** Whether nothing was left out of `full`. */
  readonly isWhole: boolean;
}

interface Parameter {
  readonly label: string;
  readonly isRequired: boolean;
  readonly type: Type;
}

/** Required ones first, each kind in the order of the schema. */
function parametersOf(root: unknown): { readonly parameters: readonly Parameter[]; readonly isCut: boolean } {
  const schema = isJsonObject(root) ? root : {};
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const names: string[] = [];
  let isCut = false;
  // Not `Object.keys`: a schema with a million properties must not be copied to read some of them.
  for (const name in properties) {
    if (names.length >= MAX_PARAMETERS && !required.has(name)) isCut = true;
    else if (names.push(name) >= 2 * MAX_PARAMETERS) break;
  }
  const parameters = names.map((name) => {
    const isRequired = required.has(name);
    const label = /^[\w$.-]{1,64}$/.test(name) ? name : JSON.stringify(oneLine(name).slice(0, MAX_NAME));
    return { label: isRequired ? label : `${label}?`, isRequired, type: typeOf(properties[name], schema, 0) };
  });
  const sorted = parameters.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
  return { parameters: sorted, isCut };
}

const ANY: Type = same('any');

function typeOf(node: unknown, root: JsonObject, depth: number): Type {
  if (!isJsonObject(node) || depth > MAX_DEPTH) return ANY;
  const { type, enum: values, const: value, $ref: reference, items } = node;
  if (Array.isArray(values)) return listed(values, plainType(type, values));
  if (value !== undefined) return listed([value], plainType(type, [value]));
  if (typeof reference === 'string') return typeOf(referred(root, reference), root, depth + 1);
  if (type === 'array') return arrayOf(typeOf(items, root, depth + 1));
  const choices = node['anyOf'] ?? node['oneOf'];
  if (Array.isArray(choices)) return oneOf(choices.slice(0, 8).map((each) => typeOf(each, root, depth + 1)));
  if (Array.isArray(type))
    return oneOf(type.slice(0, 8).map((each: unknown) => typeOf({ ...node, type: each }, root, depth + 1)));
  if (typeof type === 'string' && /^[a-z]{1,10}$/.test(type)) return same(type);
  return isJsonObject(node['properties']) ? same('object') : ANY;
}

function same(text: string): Type {
  return { full: text, plain: text, isWhole: true };
}

function listed(values: readonly unknown[], plain: string): Type {
  const full = values
    .slice(0, 30)
    .map((value) => oneLine(JSON.stringify(value) ?? 'null'))
    .join('|');
  if (values.length > 0 && values.length <= 30 && full.length <= MAX_TYPE)
    return { full, plain, isWhole: true };
  return { full: plain, plain, isWhole: false };
}

function plainType(type: unknown, values: readonly unknown[]): string {
  if (typeof type === 'string' && /^[a-z]{1,10}$/.test(type)) return type;
  const kinds = new Set(values.slice(0, 30).map((value) => typeof value));
  const [kind] = kinds;
  return kinds.size === 1 && kind !== undefined && kind !== 'object' ? kind : 'any';
}

function arrayOf({ full, plain, isWhole }: Type): Type {
  const wrap = (text: string): string => (text.includes('|') ? `(${text})[]` : `${text}[]`);
  return { full: wrap(full), plain: wrap(plain), isWhole };
}

/** That a value may also be null is what a model can do without. */
function oneOf(types: readonly Type[]): Type {
  const rest = types.filter(({ full }) => full !== 'null');
  const join = (texts: readonly string[]): string => [...new Set(texts)].join('|');
  const full = join(rest.map((type) => type.full));
  const plain = join(rest.map((type) => type.plain));
  if (full === '' || full.split('|').includes('any')) return ANY;
  const isShort = full.length <= MAX_TYPE;
  const kept = isShort ? full : plain.length <= MAX_TYPE ? plain : 'any';
  return {
    full: kept,
    plain: isShort ? plain : kept,
    isWhole: isShort && rest.every(({ isWhole }) => isWhole),
  };
}

/** Definitions of the schema itself; anything else is not looked up. */
function referred(root: JsonObject, reference: string): unknown {
  const [, place, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference) ?? [];
  const definitions = place === undefined ? undefined : root[place];
  return isJsonObject(definitions) && name !== undefined ? definitions[name] : undefined;
}
