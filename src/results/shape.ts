import { isJsonObject } from '../model/json.ts';

const MAX_KEYS = 12;
const MAX_KEY_CHARS = 40;

/** A few words about a text that is a JSON array or object; undefined where it is none. */
export function shapeOf(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text.slice(0, 1_000))) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? arrayShape(value) : objectShape(value);
  } catch {
    // Best effort: it looked like JSON and is read as lines.
    return undefined;
  }
}

function arrayShape(array: readonly unknown[]): string {
  const [first] = array;
  const records = `JSON array of ${count(array.length)}`;
  return isJsonObject(first) ? `${records} objects {${keys(first, (key) => key)}}` : `${records} values`;
}

function objectShape(value: unknown): string {
  if (!isJsonObject(value)) return 'JSON';
  const member = (key: string): string => {
    const inner = value[key];
    return Array.isArray(inner) ? `${key}: array of ${count(inner.length)}` : key;
  };
  return `JSON object {${keys(value, member)}}`;
}

function keys(object: object, show: (key: string) => string): string {
  const all = Object.keys(object);
  const shown = all.slice(0, MAX_KEYS).map((key) => show(key).slice(0, MAX_KEY_CHARS));
  // Keys are a server's words, and a line of ours is one line.
  return `${shown.join(', ')}${all.length > MAX_KEYS ? ', …' : ''}`.replaceAll(
    /\p{Cc}|[\u2028\u2029]/gu,
    ' ',
  );
}

export function count(number: number): string {
  return number.toLocaleString('en-US');
}
