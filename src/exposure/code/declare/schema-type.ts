import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';

const MAX_DEPTH = 8;
const MAX_PROPERTIES = 200;
const MAX_CHOICES = 50;
const MAX_VALUE = 200;
const MAX_COMMENT = 300;
/** Characters of one type; a schema that says more is not read to its end. */
const MAX_CHARS = 20_000;

interface Place {
  readonly root: JsonObject;
  readonly indent: string;
  readonly depth: number;
  /** References on the way here, so that a cycle ends. */
  readonly seen: readonly string[];
}

/** A JSON Schema as a TypeScript type. It always ends and never says more than it should, whatever the schema. */
export function schemaType(schema: unknown, indent = ''): string {
  const root = isJsonObject(schema) ? schema : {};
  return new TypeWriter().write(schema, { root, indent, depth: 0, seen: [] });
}

/** Text inside of a comment: it cannot end it, begin a line of its own, or hide. */
export function commentText(text: string, max: number): string {
  const line = text
    .slice(0, 4 * max)
    .replaceAll(/[\s\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ')
    .trim();
  const cut = line.length > max ? `${line.slice(0, max).replace(/[\uD800-\uDBFF]$/, '')}…` : line;
  return cut.replaceAll('*/', '*\\/');
}

/** A name as a key of a type or an object. */
export function propertyKey(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

function literal(value: unknown): string {
  // Line separators are letters to JSON but ends of lines to some readers.
  const text = (JSON.stringify(value) ?? 'null').replaceAll(
    /[\u0085\u2028\u2029\p{Cf}]/gu,
    (char) => `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, '0').slice(-4)}`,
  );
  return text;
}

class TypeWriter {
  #left = MAX_CHARS;

  write(node: unknown, place: Place): string {
    if (node === false) return 'never';
    if (!isJsonObject(node) || place.depth > MAX_DEPTH || this.#left <= 0) return 'any';
    const type = this.#typeOf(node, place);
    this.#left -= type.length;
    return node['nullable'] === true ? union([type, 'null']) : type;
  }

  #typeOf(node: JsonObject, place: Place): string {
    const { $ref: reference, enum: values, const: value, type, allOf } = node;
    const deeper = { ...place, depth: place.depth + 1 };
    if (typeof reference === 'string') return this.#referred(reference, deeper);
    if (Array.isArray(values)) return union(values.slice(0, MAX_CHOICES).map(valueType), values.length);
    if (value !== undefined) return valueType(value);
    const choices = node['anyOf'] ?? node['oneOf'];
    if (Array.isArray(choices)) {
      const types = choices.slice(0, MAX_CHOICES).map((each: unknown) => this.write(each, deeper));
      // Such choices often only say which properties go together.
      return isJsonObject(node['properties']) && types.every((each) => each === 'any')
        ? this.#object(node, place)
        : union(types, choices.length);
    }
    if (Array.isArray(allOf) && allOf.length > 0) {
      const own = isJsonObject(node['properties']) ? [{ ...node, allOf: undefined }] : [];
      const parts: readonly unknown[] = [...(allOf.slice(0, MAX_CHOICES) as readonly unknown[]), ...own];
      const types = parts.map((each: unknown) => this.write(each, deeper)).filter((each) => each !== 'any');
      return types.length === 0
        ? 'any'
        : types.map((each) => (each.includes(' | ') ? `(${each})` : each)).join(' & ');
    }
    if (Array.isArray(type))
      return union(type.slice(0, MAX_CHOICES).map((each: unknown) => this.#plain(each, node, place)));
    return this.#plain(type, node, place);
  }

  #plain(type: unknown, node: JsonObject, place: Place): string {
    switch (type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return type;
      case 'integer':
        return 'number';
      case 'array':
        return this.#array(node, place);
      case 'object':
        return this.#object(node, place);
      default:
        return isJsonObject(node['properties']) ? this.#object(node, place) : 'any';
    }
  }

  #array({ items, prefixItems }: JsonObject, place: Place): string {
    const deeper = { ...place, depth: place.depth + 1 };
    if (Array.isArray(prefixItems) && prefixItems.length <= MAX_CHOICES)
      return `[${prefixItems.map((each: unknown) => this.write(each, deeper)).join(', ')}]`;
    const item = this.write(items, deeper);
    return /^[\w.]+$/.test(item) || (item.startsWith('{') && item.endsWith('}') && !item.includes('} '))
      ? `${item}[]`
      : `(${item})[]`;
  }

  #object(node: JsonObject, place: Place): string {
    const { properties, additionalProperties } = node;
    const required = new Set(Array.isArray(node['required']) ? node['required'] : []);
    const indent = `${place.indent}  `;
    const inner = { ...place, indent, depth: place.depth + 1 };
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
    if (isOpen) lines.push(`${indent}[name: string]: any;`);
    return `{\n${lines.join('\n')}\n${place.indent}}`;
  }

  #property(
    name: string,
    node: unknown,
    { isRequired, inner }: { readonly isRequired: boolean; readonly inner: Place },
  ): string {
    const { indent } = inner;
    const description = isJsonObject(node) ? node['description'] : undefined;
    const said = typeof description === 'string' ? commentText(description, MAX_COMMENT) : '';
    const comment = said === '' ? '' : `${indent}/** ${said} */\n`;
    const key = propertyKey(name.length > MAX_VALUE ? `${name.slice(0, MAX_VALUE)}…` : name);
    this.#left -= comment.length + key.length;
    return `${comment}${indent}${key}${isRequired ? '' : '?'}: ${this.write(node, inner)};`;
  }

  #referred(reference: string, place: Place): string {
    if (place.seen.includes(reference)) return 'any';
    const found = atPointer(place.root, reference);
    return this.write(found, { ...place, seen: [...place.seen, reference] });
  }
}

/** Places in the schema itself; anything else is not looked up. */
function atPointer(root: JsonObject, reference: string): unknown {
  if (reference === '#') return root;
  if (!reference.startsWith('#/') || reference.length > 1000) return undefined;
  let node: unknown = root;
  for (const step of reference.slice(2).split('/')) {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    const holder = node as JsonObject; // Asked only for what it has itself.
    if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
    node = holder[key];
  }
  return node;
}

function decoded(step: string): string {
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
  if (count > types.length) return [...distinct, 'string'].join(' | ');
  return distinct.join(' | ');
}
