type Schema = Readonly<Record<string, unknown>>;

/** What a schema asks a person for. */
export type Field =
  | { readonly kind: 'text'; readonly isLong: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly unknown[] }
  | {
      readonly kind: 'number';
      readonly isWhole: boolean;
      readonly least: number | undefined;
      readonly most: number | undefined;
    }
  | { readonly kind: 'switch' }
  | { readonly kind: 'list'; readonly of: Schema }
  | { readonly kind: 'group'; readonly members: readonly Member[] }
  /** Nothing simpler fits: the value is written as JSON. */
  | { readonly kind: 'json' };

export interface Member {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Deeper than this, JSON is easier to write than a form of forms. */
const DEEPEST = 4;
const MOST_REFERENCES = 10;

export function fieldOf(schema: Schema, root: Schema, depth = 0): Field {
  const choices = choicesOf(schema);
  if (choices !== undefined) return { kind: 'choice', choices };
  switch (typeOf(schema)) {
    case 'string':
      return { kind: 'text', isLong: (numberIn(schema, 'maxLength') ?? 0) > 200 };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        isWhole: typeOf(schema) === 'integer',
        least: numberIn(schema, 'minimum'),
        most: numberIn(schema, 'maximum'),
      };
    case 'boolean':
      return { kind: 'switch' };
    case 'array': {
      const items = schemaIn(schema['items']);
      return items === undefined || depth >= DEEPEST
        ? { kind: 'json' }
        : { kind: 'list', of: resolved(items, root) };
    }
    case 'object': {
      const members = membersOf(schema, root);
      return members.length === 0 || depth >= DEEPEST ? { kind: 'json' } : { kind: 'group', members };
    }
    default:
      return { kind: 'json' };
  }
}

/** The required ones first, otherwise as the schema has them. */
export function membersOf(schema: Schema, root: Schema): readonly Member[] {
  const properties = schemaIn(schema['properties']) ?? {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return Object.entries(properties)
    .map(([name, value]) => ({
      name,
      schema: resolved(schemaIn(value) ?? {}, root),
      isRequired: required.has(name),
    }))
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** Follows references inside the same document, and a choice between something and null. */
export function resolved(schema: Schema, root: Schema): Schema {
  let current = schema;
  for (let hops = 0; hops < MOST_REFERENCES; hops += 1) {
    const { $ref: ref, ...rest } = current;
    const target = typeof ref === 'string' ? at(root, ref) : onlyOne(current);
    if (target === undefined) return current;
    // What stands beside the reference is nearer to the person.
    const { anyOf: _any, oneOf: _one, ...beside } = rest;
    current = { ...target, ...beside };
  }
  return {};
}

function at(root: Schema, ref: string): Schema | undefined {
  if (!ref.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const name = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    value = schemaIn(value)?.[name];
  }
  return schemaIn(value);
}

function onlyOne(schema: Schema): Schema | undefined {
  const some = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(some)) return undefined;
  const others = some.map(schemaIn).filter((each) => each?.['type'] !== 'null');
  return others.length === 1 ? others[0] : undefined;
}

function choicesOf(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum'] as unknown[];
  if ('const' in schema) return [schema['const']];
  const some = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(some) || some.length === 0) return undefined;
  const constants = some.map(schemaIn);
  return constants.every((each) => each !== undefined && 'const' in each)
    ? constants.map((each) => each?.['const'])
    : undefined;
}

function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const others = type.filter((each) => each !== 'null');
    return others.length === 1 && typeof others[0] === 'string' ? others[0] : undefined;
  }
  return 'properties' in schema ? 'object' : undefined;
}

function numberIn(schema: Schema, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}

export function schemaIn(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}
