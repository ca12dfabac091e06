type Schema = Readonly<Record<string, unknown>>;

/** The form field for a JSON schema. */
export type SchemaField =
  | { readonly kind: 'text'; readonly isLong: boolean }
  | { readonly kind: 'choice'; readonly choices: readonly unknown[] }
  | {
      readonly kind: 'number';
      readonly isInteger: boolean;
      readonly minimum: number | undefined;
      readonly maximum: number | undefined;
    }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'list'; readonly itemSchema: Schema }
  | { readonly kind: 'group'; readonly members: readonly SchemaMember[] }
  /** No simpler field fits, so the value is written as JSON. */
  | { readonly kind: 'json' };

export interface SchemaMember {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** The maximum nesting of forms. Deeper values are entered as JSON, which is easier to write. This also ends circular schemas. */
const MAX_DEPTH = 4;
/** The maximum number of `$ref`s that are followed, because references can be circular. */
const MAX_REFERENCES = 10;

export function toSchemaField(schema: Schema, root: Schema, depth = 0): SchemaField {
  const choices = listChoices(schema);
  if (choices !== undefined) return { kind: 'choice', choices };
  const type = typeOf(schema);
  switch (type) {
    case 'string':
      return { kind: 'text', isLong: (numberOf(schema, 'maxLength') ?? 0) > 200 };
    case 'integer':
    case 'number':
      return {
        kind: 'number',
        isInteger: type === 'integer',
        minimum: numberOf(schema, 'minimum'),
        maximum: numberOf(schema, 'maximum'),
      };
    case 'boolean':
      return { kind: 'boolean' };
    case 'array': {
      const items = asObject(schema['items']);
      return items === undefined || depth >= MAX_DEPTH
        ? { kind: 'json' }
        : { kind: 'list', itemSchema: resolveReferences(items, root) };
    }
    case 'object': {
      const members = listMembers(schema, root);
      return members.length === 0 || depth >= MAX_DEPTH ? { kind: 'json' } : { kind: 'group', members };
    }
    default:
      return { kind: 'json' };
  }
}

/** Returns the members of an object schema, required ones first, otherwise in the order of the schema. */
export function listMembers(schema: Schema, root: Schema): readonly SchemaMember[] {
  const properties = asObject(schema['properties']) ?? {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  return Object.entries(properties)
    .map(([name, value]) => ({
      name,
      schema: resolveReferences(asObject(value) ?? {}, root),
      isRequired: required.has(name),
    }))
    .toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/**
 * Resolves `$ref`s inside the same document, and replaces a choice between a schema and null by the schema. Returns a schema that
 * allows everything if there are too many references.
 */
export function resolveReferences(schema: Schema, root: Schema): Schema {
  let current = schema;
  for (let hops = 0; hops < MAX_REFERENCES; hops += 1) {
    const { $ref: ref, ...rest } = current;
    const target = typeof ref === 'string' ? findDefinition(root, ref) : onlyNonNullSchema(current);
    if (target === undefined) return current;
    // Keywords beside the reference are more specific than the definition.
    const { anyOf: _any, oneOf: _one, ...siblings } = rest;
    current = { ...target, ...siblings };
  }
  return {};
}

function findDefinition(root: Schema, ref: string): Schema | undefined {
  if (!ref.startsWith('#/')) return undefined;
  let value: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const name = decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~');
    value = ownMember(asObject(value) ?? {}, name);
  }
  return asObject(value);
}

/** Decodes a part of a reference. A part that is not valid percent-encoding is taken as it is. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Returns an own member of the object. A server may choose a name such as `constructor`, which every object inherits. */
export function ownMember(object: Schema, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns the schema X of `anyOf: [X, null]` or `oneOf: [X, null]`, or undefined for other choices. */
function onlyNonNullSchema(schema: Schema): Schema | undefined {
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(alternatives)) return undefined;
  const schemas = alternatives.map(asObject).filter((alternative) => alternative?.['type'] !== 'null');
  return schemas.length === 1 ? schemas[0] : undefined;
}

/** Returns the allowed values if the schema lists them, or undefined otherwise. */
function listChoices(schema: Schema): readonly unknown[] | undefined {
  if (Array.isArray(schema['enum'])) return schema['enum'] as unknown[];
  if ('const' in schema) return [schema['const']];
  const alternatives = schema['anyOf'] ?? schema['oneOf'];
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const schemas = alternatives.map(asObject);
  return schemas.every((alternative) => alternative !== undefined && 'const' in alternative)
    ? schemas.map((alternative) => alternative?.['const'])
    : undefined;
}

/** Returns the only type besides null, or undefined if the schema allows several types or any type. */
function typeOf(schema: Schema): string | undefined {
  const { type } = schema;
  if (typeof type === 'string') return type;
  if (Array.isArray(type)) {
    const types = type.filter((name) => name !== 'null');
    return types.length === 1 && typeof types[0] === 'string' ? types[0] : undefined;
  }
  return 'properties' in schema ? 'object' : undefined;
}

function numberOf(schema: Schema, key: string): number | undefined {
  const value = schema[key];
  return typeof value === 'number' ? value : undefined;
}

export function asObject(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : undefined;
}
