import { parseExact } from '../../../core/lib/exact-json.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { toOneLine } from '../../sanitize.ts';

/** A field of a form. */
export interface FormField {
  readonly key: string;
  readonly isRequired: boolean;
  readonly label: string;
  /** The allowed values with their labels. Empty if any value is allowed. */
  readonly choices: readonly { readonly value: unknown; readonly label: string }[];
  readonly defaultValue: unknown;
  readonly type: string;
}

/** The maximum number of fields that the user is asked for. Further fields are ignored. */
const MAX_FIELDS = 50;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** Reads the fields of a form that a server requests (MCP elicitation). */
export function readFormFields(requestedSchema: unknown): readonly FormField[] {
  if (!isJsonObject(requestedSchema) || !isJsonObject(requestedSchema['properties'])) return [];
  const required = Array.isArray(requestedSchema['required']) ? requestedSchema['required'] : [];
  return Object.entries(requestedSchema['properties'])
    .slice(0, MAX_FIELDS)
    .map(([key, property]) =>
      toFormField(key, isJsonObject(property) ? property : {}, required.includes(key)),
    );
}

function toFormField(key: string, property: JsonObject, isRequired: boolean): FormField {
  const { type, title, description, items } = property;
  const isList = type === 'array';
  return {
    key,
    isRequired,
    label: [toOneLine(title, key), toOneLine(description)].filter((text) => text !== '').join(': '),
    choices: readChoices(isList && isJsonObject(items) ? items : property),
    defaultValue: property['default'],
    type: typeof type === 'string' ? type : 'string',
  };
}

function readChoices({ enum: values, enumNames, oneOf, anyOf }: JsonObject): FormField['choices'] {
  if (Array.isArray(values)) {
    const names: readonly unknown[] = Array.isArray(enumNames) ? enumNames : [];
    return values.map((value: unknown, at) => ({ value, label: toOneLine(names[at], String(value)) }));
  }
  const named = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [];
  return named
    .filter(isJsonObject)
    .filter((each) => 'const' in each)
    .map((each) => ({ value: each['const'], label: toOneLine(each['title'], String(each['const'])) }));
}

/** Parses a line that the user typed as the value of a field. An empty line selects the default, or leaves an optional field unset. */
export function parseAnswer(
  field: FormField,
  line: string,
): { readonly value: unknown } | { readonly problem: string } {
  const text = line.trim();
  if (text === '') {
    if (field.defaultValue !== undefined) return { value: field.defaultValue };
    return field.isRequired ? { problem: 'This field is required.' } : { value: undefined };
  }
  if (field.type === 'array') {
    const read = text.split(',').map((part) => parseSingleAnswer(field, part.trim()));
    const bad = read.find((each) => 'problem' in each);
    return bad ?? { value: read.map((each) => ('value' in each ? each.value : undefined)) };
  }
  // Free text keeps its leading and trailing spaces.
  return parseSingleAnswer(field, field.type === 'string' && field.choices.length === 0 ? line : text);
}

function parseSingleAnswer(
  { choices, type }: FormField,
  text: string,
): { readonly value: unknown } | { readonly problem: string } {
  if (choices.length > 0) {
    const found =
      choices.find(({ value, label }) => String(value) === text || label === text) ??
      choices[Number(text) - 1];
    return found === undefined ? { problem: 'Choose one of the listed values.' } : { value: found.value };
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
