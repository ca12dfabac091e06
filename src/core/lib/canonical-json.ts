import { restoreNumbers, parseExact } from './exact-json.ts';
import { isLargeJson } from './is-large-json.ts';

/** A value with at most this many members is one step of `canonicalJsonSteps`; it takes about a millisecond. */
const STEP_MEMBERS = 1_000;
/** Values that are nested deeper are one step, because resuming nested generators takes time. */
const MAX_STEP_DEPTH = 50;

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

/**
 * Works like `canonicalJson`, but in steps: a server determines the size of its definitions, and a large one must not block the event loop.
 */
export function* canonicalJsonSteps(value: unknown, depth = 0): Generator<undefined, string> {
  if (depth > MAX_STEP_DEPTH || !isLargeJson(value, STEP_MEMBERS)) return canonicalJson(value);
  let text = '';
  if (Array.isArray(value)) {
    for (const item of value) {
      text += `${text === '' ? '' : ','}${yield* canonicalJsonSteps(item ?? null, depth + 1)}`;
      yield;
    }
    return `[${text}]`;
  }
  const members = value as Record<string, unknown>; // A large value is an array or an object.
  for (const key of Object.keys(members).toSorted()) {
    if (members[key] === undefined) continue;
    text += `${text === '' ? '' : ','}${keyText(key)}:${yield* canonicalJsonSteps(members[key], depth + 1)}`;
    yield;
  }
  return `{${text}}`;
}

function keyText(key: string): string {
  return PLAIN_KEY.test(key) ? `"${key}"` : JSON.stringify(key);
}

const PLAIN_KEY = /^[\w$-]*$/;

/**
 * Returns the canonical form of a text from `stringifyExact`. Returns the text unchanged if its keys are already in order, which is the
 * usual case.
 */
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
