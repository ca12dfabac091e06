import { fieldOf, membersOf, resolved, schemaIn, type Member } from './schema-field.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Where a form begins: what must be there and can be empty is there. */
export function begun(schema: JsonObject): JsonObject {
  return emptyGroup(membersOf(resolved(schema, schema), schema), schema, 0);
}

/** Names of what must be there and is not, such as `who.name`. */
export function missing(schema: JsonObject, value: JsonObject): readonly string[] {
  return missingIn(membersOf(resolved(schema, schema), schema), schema, value, 0);
}

/** What a list is given by its button; undefined where the person has to say something first. */
export function emptyOf(schema: JsonObject, root: JsonObject, depth: number): unknown {
  const field = fieldOf(schema, root, depth);
  if (field.kind === 'group') return emptyGroup(field.members, root, depth + 1);
  if (field.kind === 'list') return [];
  return field.kind === 'text' ? '' : undefined;
}

function emptyGroup(members: readonly Member[], root: JsonObject, depth: number): JsonObject {
  return Object.fromEntries(
    members.flatMap(({ name, schema, isRequired }): [string, unknown][] => {
      const empty = isRequired ? emptyOf(schema, root, depth) : undefined;
      return typeof empty === 'object' ? [[name, empty]] : [];
    }),
  );
}

function missingIn(
  members: readonly Member[],
  root: JsonObject,
  value: JsonObject,
  depth: number,
): readonly string[] {
  return members.flatMap(({ name, schema, isRequired }) => {
    const own = value[name];
    if (own === undefined) return isRequired ? [name] : [];
    return inside(schema, root, own, depth).map((path) => `${name}.${path}`);
  });
}

function inside(schema: JsonObject, root: JsonObject, value: unknown, depth: number): readonly string[] {
  const field = fieldOf(schema, root, depth);
  if (field.kind === 'group') return missingIn(field.members, root, schemaIn(value) ?? {}, depth + 1);
  if (field.kind !== 'list' || !Array.isArray(value)) return [];
  return value.flatMap((each, index) =>
    each === undefined
      ? [String(index + 1)]
      : inside(field.of, root, each, depth + 1).map((path) => `${index + 1}.${path}`),
  );
}
