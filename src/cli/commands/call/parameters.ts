import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';

export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
}

/** The maximum nesting of a printed type. Deeper types are printed as `any`, which also ends circular references. */
const MAX_DEPTH = 4;

/** Lists the parameters of an input schema, the required ones first. */
export function listParameters(schema: unknown): readonly Parameter[] {
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return [];
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const all = Object.entries(schema['properties']).map(([name, property]) => ({
    name,
    type: formatType(property, schema, 0),
    isRequired: required.includes(name),
    description: describeProperty(property),
  }));
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

function describeProperty(property: unknown): string {
  if (!isJsonObject(property)) return '';
  const { description, title, default: fallback } = property;
  const text = typeof description === 'string' ? description : typeof title === 'string' ? title : '';
  return fallback === undefined ? text : `${text} (default: ${formatJson(fallback)})`.trim();
}

function formatType(schema: unknown, root: JsonObject, depth: number): string {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return 'any';
  const { type, enum: values, anyOf, oneOf, items, $ref } = schema;
  if ('const' in schema) return formatJson(schema['const']);
  if (Array.isArray(values))
    return values.slice(0, 12).map(formatJson).join(' | ') + (values.length > 12 ? ' | …' : '');
  if (typeof $ref === 'string') return formatType(resolveDefinition($ref, root), root, depth + 1);
  const branches = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : undefined;
  if (branches !== undefined)
    return [...new Set(branches.map((branch) => formatType(branch, root, depth + 1)))].join(' | ');
  if (type === 'array')
    return items === undefined ? 'array' : `${addParentheses(formatType(items, root, depth + 1))}[]`;
  if (Array.isArray(type)) return type.map(String).join(' | ');
  return typeof type === 'string' ? type : 'any';
}

function resolveDefinition(ref: string, root: JsonObject): unknown {
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(ref) ?? [];
  const found = group === undefined ? undefined : root[group];
  return name !== undefined && isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
}

function addParentheses(type: string): string {
  return type.includes(' ') ? `(${type})` : type;
}

function formatJson(value: unknown): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
