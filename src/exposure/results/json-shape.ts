import { isJsonObject } from '../../core/json.ts';

/** The keys and types of a JSON value, without its values. It is JSON itself, so that it can be stored. */
export interface JsonShape {
  /** The types of the value other than array and object. `object` stands for an object that is nested too deeply to be read. */
  readonly types: readonly string[];
  readonly members?: readonly JsonMember[] | undefined;
  /** The values of an object whose keys are data, such as ids. */
  readonly values?: JsonShape | undefined;
  readonly items?: JsonShape | undefined;
  /** The length of an array; absent once several arrays were merged. */
  readonly count?: number;
}

interface JsonMember {
  readonly key: string;
  readonly shape: JsonShape;
  readonly isOptional: boolean;
}

/** The number of elements of an array, and of values of a map, that are read. */
const MAX_SAMPLES = 20;
const MAX_DEPTH = 5;
/** The number of values that are read in all. */
const MAX_VALUES = 5_000;
/** An object with more keys is treated as a map from data to values, so its keys are not shown. */
const MAX_KEYS = 40;
const MAX_KEY_CHARS = 40;
/** Letters, digits and joining signs, but no invisible letters: a key must not contain sentences or hide characters. */
const NAME = /^(?!.*[\u115f\u1160\u3164\uffa0])[\p{L}_$@][\p{L}\p{N}_$.@-]*$/u;
const UNKNOWN: JsonShape = { types: [] };

/** Returns the shape of a value that `JSON.parse` returned. Reads a bounded part of it. */
export function shapeOf(value: unknown, depth = 0, budget = { left: MAX_VALUES }): JsonShape {
  if ((budget.left -= 1) < 0) return UNKNOWN;
  if (Array.isArray(value)) {
    if (depth === MAX_DEPTH) return { types: [], items: UNKNOWN };
    const items = value.slice(0, MAX_SAMPLES).map((item) => shapeOf(item, depth + 1, budget));
    return { types: [], items: items.reduce(mergeShapes, UNKNOWN), count: value.length };
  }
  if (!isJsonObject(value)) return { types: [value === null ? 'null' : typeof value] };
  if (depth === MAX_DEPTH) return { types: ['object'] };
  const keys: string[] = [];
  for (const key in value) if (keys.push(key) > MAX_KEYS) break;
  if (keys.length > MAX_KEYS || keys.some((key) => !isName(key))) {
    const values = keys.slice(0, MAX_SAMPLES).map((key) => shapeOf(value[key], depth + 1, budget));
    return { types: [], values: values.reduce(mergeShapes, UNKNOWN) };
  }
  const members = keys.map((key) => ({
    key,
    shape: shapeOf(value[key], depth + 1, budget),
    isOptional: false,
  }));
  return { types: [], members };
}

/** Returns a shape that fits the values of both. */
export function mergeShapes(a: JsonShape, b: JsonShape): JsonShape {
  if (a === UNKNOWN) return b;
  if (b === UNKNOWN) return a;
  const types = [...new Set([...a.types, ...b.types])];
  const items = mergeParts(a.items, b.items);
  // If one of two objects is a map, both are treated as maps.
  const isMap = a.values !== undefined || b.values !== undefined;
  const values = isMap ? mergeParts(valuesOf(a), valuesOf(b)) : undefined;
  const members = isMap ? undefined : mergeMembers(a.members, b.members);
  return { types, items, values, members };
}

/** Writes a shape like a TypeScript type, within `maxChars`; `…` replaces what was left out. */
export function formatShape(shape: JsonShape, maxChars = 400): string {
  for (let depth = MAX_DEPTH; depth > 0; depth -= 1) {
    const text = write(shape, depth, MAX_KEYS);
    if (text.length <= maxChars) return text;
  }
  for (let keys = MAX_KEYS; keys > 1; keys = Math.floor(keys / 2)) {
    const text = write(shape, 1, keys);
    if (text.length <= maxChars) return text;
  }
  return write(shape, 0, 1);
}

function valuesOf({ values, members }: JsonShape): JsonShape | undefined {
  return values ?? members?.map(({ shape }) => shape).reduce(mergeShapes, UNKNOWN);
}

function mergeParts(a: JsonShape | undefined, b: JsonShape | undefined): JsonShape | undefined {
  return a === undefined || b === undefined ? (a ?? b) : mergeShapes(a, b);
}

function mergeMembers(
  a: readonly JsonMember[] | undefined,
  b: readonly JsonMember[] | undefined,
): readonly JsonMember[] | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  const others = new Map(b.map((member) => [member.key, member]));
  const merged = a.map(({ key, shape, isOptional }) => {
    const other = others.get(key);
    others.delete(key);
    return other === undefined
      ? { key, shape, isOptional: true }
      : { key, shape: mergeShapes(shape, other.shape), isOptional: isOptional || other.isOptional };
  });
  return [...merged, ...[...others.values()].map((member) => ({ ...member, isOptional: true }))].slice(
    0,
    MAX_KEYS,
  );
}

function write(shape: JsonShape, depth: number, maxKeys: number): string {
  const { types, members, values, items, count } = shape;
  const alternatives = [...types];
  if (members !== undefined) alternatives.push(writeMembers(members, depth, maxKeys));
  if (values !== undefined)
    alternatives.push(`Record<string, ${depth > 0 ? write(values, depth - 1, maxKeys) : '…'}>`);
  if (items !== undefined) {
    const item = write(items, depth, maxKeys);
    const list = item.includes(' | ') && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
    alternatives.push(count === undefined ? list : `${list} (${count})`);
  }
  return alternatives.length === 0 ? 'unknown' : alternatives.join(' | ');
}

function writeMembers(members: readonly JsonMember[], depth: number, maxKeys: number): string {
  if (members.length === 0) return '{}';
  if (depth <= 0) return '{…}';
  const shown = members
    .slice(0, maxKeys)
    .map(
      ({ key, shape, isOptional }) => `${key}${isOptional ? '?' : ''}: ${write(shape, depth - 1, maxKeys)}`,
    );
  return `{${shown.join(', ')}${members.length > maxKeys ? ', …' : ''}}`;
}

/** Keys come from servers and may be data: a key that no programmer would choose makes its object a map. */
function isName(key: string): boolean {
  return key.length <= MAX_KEY_CHARS && NAME.test(key);
}
