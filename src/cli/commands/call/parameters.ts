import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';

export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly about: string;
}

const MAX_DEPTH = 4;

/** What a person needs to know of an input schema to call the tool; required parameters come first. */
export function parametersOf(schema: unknown): readonly Parameter[] {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const all = Object.entries(schema['properties']).map(([name, property]) => ({
    name,
    type: typeOf(property, schema, 0),
    isRequired: required.includes(name),
    about: aboutOf(property),
  }));
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

function aboutOf(property: unknown): string {
  if (!isJsonObject(property)) return '';
  const { description, title, default: fallback } = property;
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  return fallback === undefined ? text : `${text} (default: ${short(fallback)})`.trim();
}

function typeOf(schema: unknown, root: JsonObject, depth: number): string {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return 'any';
  const { type, enum: values, anyOf, oneOf, items, $ref } = schema;
  if ('const' in schema) return short(schema['const']);
  if (Array.isArray(values))
    return values.slice(0, 12).map(short).join(' | ') + (values.length > 12 ? ' | …' : '');
  if (typeof $ref === 'string') return typeOf(definitionAt($ref, root), root, depth + 1);
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (branches !== undefined)
    return [...new Set(branches.map((branch) => typeOf(branch, root, depth + 1)))].join(' | ');
  if (type === 'array')
    return items === undefined ? 'array' : `${bracketed(typeOf(items, root, depth + 1))}[]`;
  if (Array.isArray(type)) return type.map(String).join(' | ');
  return typeof type === 'string' ? type : 'any';
}

function definitionAt(ref: string, root: JsonObject): unknown {
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const found = group === undefined ? undefined : root[group];
  return name !== undefined && isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
}

function bracketed(type: string): string {
  return type.includes(' ') ? `(${type})` : type;
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
