import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';

const MAX_DEPTH = 8;
const MAX_PROPERTIES = 200;
const MAX_CHOICES = 50;
const MAX_VALUE = 200;
const MAX_COMMENT = 300;
/** The maximum characters of one type; the rest of a longer schema is not read. */
const MAX_CHARS = 20_000;

interface SchemaPosition {
  readonly root: JsonObject;
  readonly indent: string;
  readonly depth: number;
  /** The references that led here, to detect cycles. */
  readonly seen: readonly string[];
}

/** Converts a JSON Schema to a TypeScript type. Time and length are bounded for any schema. */
export function formatSchemaType(schema: unknown, indent = ''): string {
  const root = isJsonObject(schema) ? schema : {};
  return new TypeWriter().write(schema, { root, indent, depth: 0, seen: [] });
}

/** Escapes text for a comment: the text cannot end the comment, start a new line, or contain invisible characters. */
export function commentText(text: string, max: number): string {
  const line = text
    .slice(0, 4 * max)
    .replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
  const cut = line.length > max ? `${line.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
  return cut.replaceAll('*/', '*\\/');
}

/** Returns a name as a property key, quoted if necessary. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

function literal(value: unknown): string {
  // JSON allows Unicode line separators in strings, but some readers treat them as line ends.
  const text = (JSON.stringify(value) ?? 'null').replaceAll(
    /[\u0085\u2028\u2029\p{Cf}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0').slice(-4)}`,
  );
  return text;
}

/** Writes one type. It replaces subschemas beyond a limit with `any`. */
class TypeWriter {
  /** The number of characters that may still be written; nested types count once per level. */
  #left = MAX_CHARS;

  write(node: unknown, position: SchemaPosition): string {
    if (node === false) return 'never';
    if (!isJsonObject(node) || position.depth > MAX_DEPTH || this.#left <= 0) return 'any';
    const type = this.#typeOf(node, position);
    this.#left -= type.length;
    return node['nullable'] === true ? union([type, 'null']) : type;
  }

  #typeOf(node: JsonObject, position: SchemaPosition): string {
    const { $ref: reference, enum: values, const: value, type, allOf } = node;
    const deeper = { ...position, depth: position.depth + 1 };
    if (typeof reference === 'string') return this.#resolve(reference, deeper);
    if (Array.isArray(values)) return union(values.slice(0, MAX_CHOICES).map(valueType), values.length);
    if (value !== undefined) return valueType(value);
    const choices = node['anyOf'] ?? node['oneOf'];
    if (Array.isArray(choices)) {
      const types = choices.slice(0, MAX_CHOICES).map((schema: unknown) => this.write(schema, deeper));
      // Alternatives without a type of their own often only state which properties are required together.
      return isJsonObject(node['properties']) && types.every((text) => text === 'any')
        ? this.#object(node, position)
        : union(types, choices.length);
    }
    if (Array.isArray(allOf) && allOf.length > 0) {
      const own = isJsonObject(node['properties']) ? [{ ...node, allOf: undefined }] : [];
      const parts: readonly unknown[] = [...(allOf.slice(0, MAX_CHOICES) as readonly unknown[]), ...own];
      const types = parts
        .map((schema: unknown) => this.write(schema, deeper))
        .filter((text) => text !== 'any');
      return types.length === 0
        ? 'any'
        : types.map((text) => (text.includes(' | ') ? `(${text})` : text)).join(' & ');
    }
    if (Array.isArray(type))
      return union(type.slice(0, MAX_CHOICES).map((schema: unknown) => this.#plain(schema, node, position)));
    return this.#plain(type, node, position);
  }

  #plain(type: unknown, node: JsonObject, position: SchemaPosition): string {
    switch (type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return this.#array(node, position);
      case 'object':
        return this.#object(node, position);
      default:
        return isJsonObject(node['properties']) ? this.#object(node, position) : 'any';
    }
  }

  #array({ items, prefixItems }: JsonObject, position: SchemaPosition): string {
    const deeper = { ...position, depth: position.depth + 1 };
    if (Array.isArray(prefixItems) && prefixItems.length <= MAX_CHOICES)
      return `[${prefixItems.map((schema: unknown) => this.write(schema, deeper)).join(', ')}]`;
    const item = this.write(items, deeper);
    // A simple name or a single object type needs no parentheses; a union or intersection does.
    return /^[\w.]+$/.test(item) || (item.startsWith('{') && item.endsWith('}') && !item.includes('} '))
      ? `${item}[]`
      : `(${item})[]`;
  }

  #object(node: JsonObject, position: SchemaPosition): string {
    const { properties, additionalProperties } = node;
    const required = new Set(Array.isArray(node['required']) ? node['required'] : []);
    const indent = `${position.indent}  `;
    const inner = { ...position, indent, depth: position.depth + 1 };
    const lines: string[] = [];
    // Not `Object.keys`: a schema with a million properties must not be copied to read some of them.
    for (const name in isJsonObject(properties) ? properties : {}) {
      if (lines.length >= MAX_PROPERTIES || this.#left <= 0) {
        lines.push(`${indent}// … and more properties.`);
        break;
      }
      lines.push(
        this.#property(name, (properties as JsonObject)[name], { isRequired: required.has(name), inner }),
      );
    }
    const rest = isJsonObject(additionalProperties) ? this.write(additionalProperties, inner) : 'any';
    const isOpen = isJsonObject(additionalProperties) || additionalProperties === true;
    if (lines.length === 0) return additionalProperties === false ? '{}' : `Record<string, ${rest}>`;
    // An index signature with another type than `any` would conflict with the types of the named properties.
    if (isOpen) lines.push(`${indent}[name: string]: any;`);
    return `{\n${lines.join('\n')}\n${position.indent}}`;
  }

  #property(
    name: string,
    node: unknown,
    { isRequired, inner }: { readonly isRequired: boolean; readonly inner: SchemaPosition },
  ): string {
    const { indent } = inner;
    const description = isJsonObject(node) ? node['description'] : undefined;
    const text = typeof description === 'string' ? commentText(description, MAX_COMMENT) : '';
    const comment = text === '' ? '' : `${indent}/** ${text} */\n`;
    const key = propertyKey(name.length > MAX_VALUE ? `${name.slice(0, MAX_VALUE)}…` : name);
    this.#left -= comment.length + key.length;
    return `${comment}${indent}${key}${isRequired ? '' : '?'}: ${this.write(node, inner)};`;
  }

  #resolve(reference: string, position: SchemaPosition): string {
    if (position.seen.includes(reference)) return 'any';
    const target = resolvePointer(position.root, reference);
    return this.write(target, { ...position, seen: [...position.seen, reference] });
  }
}

/** Resolves references into the schema itself; other references are not followed. */
function resolvePointer(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/') || reference.length > 1000) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const key = decodeStep(step).replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = node as JsonObject; // The next line checks that it is an object with this own property.
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = holder[key];
  }
  return node;
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function valueType(value: unknown): string {
  const text = literal(value);
  if (typeof value === 'object' && value !== null) return 'any';
  return text.length > MAX_VALUE ? typeof value : text;
}

function union(types: readonly string[], count = types.length): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 0 || distinct.includes('any')) return 'any';
  // `string` stands for the choices that were left out.
  if (count > types.length) return [...distinct, 'string'].join(' | ');
  return distinct.join(' | ');
}
