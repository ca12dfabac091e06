import { isJsonObject } from '../../core/json.ts';

/** The keys and types of a JSON value, without its values. It is JSON itself, so that it can be stored. */
export interface JsonShape {
  /**
   * The types of the value other than array and object. `object` stands for an object that is nested too deeply to be read, `unknown` for
   * any value.
   */
  readonly types: readonly string[];
  readonly members?: readonly JsonMember[] | undefined;
  /** Whether an object has more members than those that are named. */
  readonly isOpen?: boolean | undefined;
  /** The values of an object whose keys are data, such as ids. */
  readonly values?: JsonShape | undefined;
  readonly items?: JsonShape | undefined;
  /** The length of an array; absent once several arrays were merged. */
  readonly count?: number;
}

interface ShapeReader {
  /** The number of values that may still be read. */
  left: number;
  readonly canShow: ((key: string) => boolean) | undefined;
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
/** The same for a value whose keys are checked, which happens beside other work. */
const MAX_CHECKED_VALUES = 1_000;
/** An object with more keys is treated as a map from data to values, so its keys are not shown. */
const MAX_KEYS = 40;
const MAX_KEY_CHARS = 40;
/**
 * Letters, digits and joining signs, but no invisible letters: a key must not contain sentences or hide characters. An `@` inside would be
 * that of an e-mail address.
 */
const NAME = /^(?!.*[\u115f\u1160\u3164\uffa0])[\p{L}_$@][\p{L}\p{N}_$.-]*$/u;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const ANY_OBJECT = 'Record<string, any>';
const UNKNOWN: JsonShape = { types: [] };

/**
 * Returns the shape of a value that `JSON.parse` returned. Reads a bounded part of it. Without `canShow`, it names the keys of every object
 * that does not look like a map, and the lengths of arrays. With it, only keys for which it returns true are named, and an object with fewer
 * of them than others is a map.
 */
export function shapeOf(value: unknown, canShow?: (key: string) => boolean): JsonShape {
  return read(value, 0, { left: canShow === undefined ? MAX_VALUES : MAX_CHECKED_VALUES, canShow });
}

function read(value: unknown, depth: number, reader: ShapeReader): JsonShape {
  if ((reader.left -= 1) < 0) return UNKNOWN;
  if (Array.isArray(value)) {
    if (depth === MAX_DEPTH) return { types: [], items: UNKNOWN };
    const items = value.slice(0, MAX_SAMPLES).map((item) => read(item, depth + 1, reader));
    const shape = { types: [], items: items.reduce(mergeShapes, UNKNOWN) };
    return reader.canShow === undefined ? { ...shape, count: value.length } : shape;
  }
  if (!isJsonObject(value)) return { types: [value === null ? 'null' : typeof value] };
  if (depth === MAX_DEPTH) return { types: ['object'] };
  const keys: string[] = [];
  for (const key in value) if (keys.push(key) > MAX_KEYS) break;
  const isMap = keys.length > MAX_KEYS || keys.some((key) => !isName(key));
  const shown = isMap ? [] : keys.filter((key) => reader.canShow?.(key) ?? true);
  if (shown.length * 2 < keys.length) {
    const values = keys.slice(0, MAX_SAMPLES).map((key) => read(value[key], depth + 1, reader));
    return { types: [], values: values.reduce(mergeShapes, UNKNOWN) };
  }
  const members = shown.map((key) => ({
    key,
    shape: read(value[key], depth + 1, reader),
    isOptional: false,
  }));
  return { types: [], members, isOpen: shown.length < keys.length ? true : undefined };
}

/** Returns a shape that fits the values of both. */
export function mergeShapes(a: JsonShape, b: JsonShape): JsonShape {
  if (a === UNKNOWN) return b;
  if (b === UNKNOWN) return a;
  const types = [...new Set([...a.types, ...b.types])];
  const items = mergeParts(a.items, b.items);
  const rest = { types, items };
  // The members of some of these objects are not known.
  if (types.includes('object')) return rest;
  const members = mergeMembers(a.members, b.members);
  // If one of two objects is a map, both are treated as maps.
  if (
    a.values === undefined &&
    b.values === undefined &&
    (members === undefined || members.length <= MAX_KEYS)
  ) {
    const isOpen = a.isOpen === true || b.isOpen === true;
    return { ...rest, members, isOpen: isOpen ? true : undefined };
  }
  return { ...rest, values: mergeParts(valuesOf(a), valuesOf(b)) ?? UNKNOWN };
}

/** Returns the shape without its innermost levels if it would be longer than `maxChars` as JSON. */
export function shortenShape(shape: JsonShape, maxChars: number): JsonShape {
  let short = shape;
  for (let depth = MAX_DEPTH; depth >= 0 && JSON.stringify(short).length > maxChars; depth -= 1)
    short = cut(shape, depth);
  return short;
}

/** Whether a stored value is a shape that `shapeOf` could have returned. */
export function isShape(value: unknown, depth = 0): value is JsonShape {
  if (!isJsonObject(value) || depth > MAX_DEPTH + 1) return false;
  const { types, members = [], values, items } = value;
  return (
    Array.isArray(types) &&
    types.every((type) => typeof type === 'string' && /^[a-z]+$/.test(type)) &&
    [values, items].every((part) => part === undefined || isShape(part, depth + 1)) &&
    Array.isArray(members) &&
    members.every(
      (member: unknown) =>
        isJsonObject(member) &&
        typeof member['key'] === 'string' &&
        isName(member['key']) &&
        isShape(member['shape'], depth + 1),
    )
  );
}

/** The notation of a shape: text for a reader, or a valid TypeScript type. */
type ShapeNotation = 'text' | 'typescript';

/** Writes a shape like a TypeScript type, within `maxChars`. What is left out is written as `…`, and in TypeScript as `any`. */
export function formatShape(shape: JsonShape, maxChars = 400, notation: ShapeNotation = 'text'): string {
  for (let depth = MAX_DEPTH; depth > 0; depth -= 1) {
    const text = write(shape, { depth, maxKeys: MAX_KEYS, notation });
    if (text.length <= maxChars) return text;
  }
  for (let maxKeys = MAX_KEYS; maxKeys > 1; maxKeys = Math.floor(maxKeys / 2)) {
    const text = write(shape, { depth: 1, maxKeys, notation });
    if (text.length <= maxChars) return text;
  }
  return write(shape, { depth: 0, maxKeys: 1, notation });
}

function cut({ types, members, values, items, isOpen }: JsonShape, depth: number): JsonShape {
  const isObject = members !== undefined || values !== undefined;
  if (depth === 0 && isObject) return { types: [...types, 'object'], ...(items && { items: cut(items, 0) }) };
  return {
    types,
    ...(items && { items: cut(items, depth) }),
    ...(values && { values: cut(values, depth - 1) }),
    ...(members && {
      members: members.map((member) => ({ ...member, shape: cut(member.shape, depth - 1) })),
    }),
    ...(isOpen && { isOpen }),
  };
}

function valuesOf({ values, members, isOpen }: JsonShape): JsonShape | undefined {
  if (isOpen === true) return { types: ['unknown'] };
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
  return [...merged, ...[...others.values()].map((member) => ({ ...member, isOptional: true }))];
}

interface WriteOptions {
  readonly depth: number;
  readonly maxKeys: number;
  readonly notation: ShapeNotation;
}

function write(shape: JsonShape, options: WriteOptions): string {
  return alternativesOf(shape, options).join(' | ');
}

function alternativesOf(
  { types, members, values, items, count, isOpen = false }: JsonShape,
  options: WriteOptions,
): readonly string[] {
  const { depth, notation } = options;
  const isTypeScript = notation === 'typescript';
  const deeper = { ...options, depth: depth - 1 };
  const alternatives = types.map((type) => (isTypeScript && type === 'object' ? ANY_OBJECT : type));
  if (members !== undefined) alternatives.push(writeMembers(members, isOpen, options));
  if (values !== undefined)
    alternatives.push(`Record<string, ${depth > 0 ? write(values, deeper) : isTypeScript ? 'any' : '…'}>`);
  if (items !== undefined) {
    const choices = alternativesOf(items, options);
    const list = choices.length > 1 ? `(${choices.join(' | ')})[]` : `${choices[0]}[]`;
    alternatives.push(count === undefined || isTypeScript ? list : `${list} (${count})`);
  }
  if (alternatives.length === 0 || types.includes('unknown')) return [isTypeScript ? 'any' : 'unknown'];
  return [...new Set(alternatives)];
}

function writeMembers(
  members: readonly JsonMember[],
  isOpen: boolean,
  { depth, maxKeys, notation }: WriteOptions,
): string {
  const isTypeScript = notation === 'typescript';
  if (members.length === 0) return isOpen && isTypeScript ? ANY_OBJECT : '{}';
  if (depth <= 0) return isTypeScript ? ANY_OBJECT : '{…}';
  const shown = members.slice(0, maxKeys).map(({ key, shape, isOptional }) => {
    const name = IDENTIFIER.test(key) ? key : JSON.stringify(key);
    return `${name}${isOptional ? '?' : ''}: ${write(shape, { depth: depth - 1, maxKeys, notation })}`;
  });
  const isWhole = members.length <= maxKeys && !isOpen;
  return `{${[...shown, ...(isWhole ? [] : [isTypeScript ? '[key: string]: any' : '…'])].join(', ')}}`;
}

/** Keys come from servers and may be data: a key that no programmer would choose makes its object a map. */
function isName(key: string): boolean {
  return key.length <= MAX_KEY_CHARS && NAME.test(key);
}
