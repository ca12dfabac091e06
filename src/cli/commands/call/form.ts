import { parseExact } from '../../../lib/exact-json.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import { inOneLine } from '../../harmless.ts';

/** One thing that a form asks for. */
export interface Field {
  readonly key: string;
  readonly isRequired: boolean;
  readonly about: string;
  /** What may be said, with what it means; empty where anything may. */
  readonly choices: readonly { readonly value: unknown; readonly label: string }[];
  readonly fallback: unknown;
  readonly type: string;
}

const MAX_FIELDS = 50;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The fields of a form that a server wants to have filled in. */
export function fieldsOf(requestedSchema: unknown): readonly Field[] {
  if (!isJsonObject(requestedSchema) || !isJsonObject(requestedSchema['properties'])) return [];
  const required = Array.isArray(requestedSchema['required']) ? requestedSchema['required'] : [];
  return Object.entries(requestedSchema['properties'])
    .slice(0, MAX_FIELDS)
    .map(([key, property]) => fieldOf(key, isJsonObject(property) ? property : {}, required.includes(key)));
}

function fieldOf(key: string, property: JsonObject, isRequired: boolean): Field {
  const { type, title, description, items } = property;
  const isList = type === 'array';
  return {
    key,
    isRequired,
    about: [inOneLine(title, key), inOneLine(description)].filter((text) => text !== '').join(': '),
    choices: choicesOf(isList && isJsonObject(items) ? items : property),
    fallback: property['default'],
    type: typeof type === 'string' ? type : 'string',
  };
}

function choicesOf({ enum: values, enumNames, oneOf, anyOf }: JsonObject): Field['choices'] {
  if (Array.isArray(values)) {
    const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value: unknown, at) => ({ value, label: inOneLine(names[at], String(value)) }));
  }
  const named = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [];
  return named
    .filter(isJsonObject)
    .filter((each) => 'const' in each)
    .map((each) => ({ value: each['const'], label: inOneLine(each['title'], String(each['const'])) }));
}

/** What a line that a person typed means for a field; an empty line is the default. */
export function readField(
  field: Field,
  line: string,
): { readonly value: unknown } | { readonly problem: string } {
  const text = line.trim();
  if (text === '') {
    if (field.fallback !== undefined) return { value: field.fallback };
    return field.isRequired ? { problem: 'An answer is needed here.' } : { value: undefined };
  }
  if (field.type === 'array') {
    const read = text.split(',').map((part) => readOne(field, part.trim()));
    const bad = read.find((each) => 'problem' in each);
    return bad ?? { value: read.map((each) => ('value' in each ? each.value : undefined)) };
  }
  return readOne(field, field.type === 'string' && field.choices.length === 0 ? line : text);
}

function readOne(
  { choices, type }: Field,
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  if (choices.length > 0) {
    const found =
      choices.find(({ value, label }) => String(value) === text || label === text) ??
      choices[Number(text) - 1];
    return found === undefined ? { problem: 'Choose one of these.' } : { value: found.value };
  }
  if (type === 'boolean') {
    if (/^(?:y|yes|true)$/i.test(text)) return { value: true };
    return /^(?:n|no|false)$/i.test(text) ? { value: false } : { problem: 'Answer yes or no.' };
  }
  if (type !== 'number' && type !== 'integer') return { value: text };
  const isFine = NUMBER.test(text) && (type === 'number' || Number.isInteger(Number(text)));
  return isFine
    ? { value: parseExact(text) }
    : { problem: `Answer with a ${type === 'integer' ? 'whole number' : 'number'}.` };
}
