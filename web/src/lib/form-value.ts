import {
  asObject,
  listMembers,
  ownMember,
  resolveReferences,
  toSchemaField,
  type SchemaMember,
} from './schema-field.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Returns the initial value of a form. It contains only the required groups and lists, which are empty. */
export function initialValue(schema: JsonObject): JsonObject {
  return emptyGroup(listMembers(resolveReferences(schema, schema), schema), schema, 0);
}

/** Returns the paths of required fields without a value, such as `who.name`. */
export function missingFields(schema: JsonObject, value: JsonObject): readonly string[] {
  return missingMembers(listMembers(resolveReferences(schema, schema), schema), schema, value, 0);
}

/** Returns the value of a new list item, or undefined if the user must enter one. */
export function emptyValue(schema: JsonObject, root: JsonObject, depth: number): unknown {
  const field = toSchemaField(schema, root, depth);
  if (field.kind === 'group') return emptyGroup(field.members, root, depth + 1);
  if (field.kind === 'list') return [];
  return field.kind === 'text' ? '' : undefined;
}

function emptyGroup(members: readonly SchemaMember[], root: JsonObject, depth: number): JsonObject {
  return Object.fromEntries(
    members.flatMap(({ name, schema, isRequired }): [string, unknown][] => {
      // Required texts are left out, too, so that the form reports them as missing.
      const empty = isRequired ? emptyValue(schema, root, depth) : undefined;
      return typeof empty === 'object' ? [[name, empty]] : [];
    }),
  );
}

function missingMembers(
  members: readonly SchemaMember[],
  root: JsonObject,
  value: JsonObject,
  depth: number,
): readonly string[] {
  return members.flatMap(({ name, schema, isRequired }) => {
    const memberValue = ownMember(value, name);
    if (memberValue === undefined) return isRequired ? [name] : [];
    return missingInside(schema, root, memberValue, depth).map((path) => `${name}.${path}`);
  });
}

/** Returns the paths of missing fields inside a group or list. List items are numbered from 1. */
function missingInside(
  schema: JsonObject,
  root: JsonObject,
  value: unknown,
  depth: number,
): readonly string[] {
  const field = toSchemaField(schema, root, depth);
  if (field.kind === 'group') return missingMembers(field.members, root, asObject(value) ?? {}, depth + 1);
  if (field.kind !== 'list' || !Array.isArray(value)) return [];
  return value.flatMap((item, index) =>
    item === undefined
      ? [String(index + 1)]
      : missingInside(field.itemSchema, root, item, depth + 1).map((path) => `${index + 1}.${path}`),
  );
}
