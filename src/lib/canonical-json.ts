import { exactText, parseExact } from './exact-json.ts';

/** The same value gives the same text, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) text += `${text === '' ? '' : ','}${canonicalJson(item ?? null)}`;
    return `[${text}]`;
  }
  // Text that grows, since lists of pairs that are sorted and joined took half as long again.
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

/** The same of a text that `stringifyExact` wrote: mostly its keys are in order, and it is what it should be. */
export function canonicalText(text: string): string {
  return isInOrder(JSON.parse(text)) ? text : exactText(canonicalJson(parseExact(text)));
}

function isInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isInOrder);
  let last = '';
  for (const key of Object.keys(value)) {
    // What was parsed has nothing but values, by their names.
    if (key < last || !isInOrder((value as Record<string, unknown>)[key])) return false;
    last = key;
  }
  return true;
}
