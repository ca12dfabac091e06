import { isJsonObject } from '../../core/json.ts';

const MAX_KEYS = 12;
const MAX_KEY_CHARS = 40;

/** Describes a JSON array or object, such as `JSON array of 3 objects {id, name}`; returns undefined for any other text. */
export function describeJson(text: string): string | undefined {
  if (!/^\s*[[{]/.test(text.slice(0, 1_000))) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? describeArray(value) : describeObject(value);
  } catch {
    return undefined; // The text only looks like JSON and is read as lines.
  }
}

function describeArray(array: readonly unknown[]): string {
  const [first] = array;
  const records = `JSON array of ${formatNumber(array.length)}`;
  return isJsonObject(first) ? `${records} objects {${formatKeys(first, formatKey)}}` : `${records} values`;
}

function describeObject(value: unknown): string {
  if (!isJsonObject(value)) return 'JSON';
  const member = (key: string): string => {
    const inner = value[key];
    const name = formatKey(key);
    return Array.isArray(inner) ? `${name}: array of ${formatNumber(inner.length)}` : name;
  };
  return `JSON object {${formatKeys(value, member)}}`;
}

function formatKeys(object: object, show: (key: string) => string): string {
  const allKeys = Object.keys(object);
  const firstKeys = allKeys.slice(0, MAX_KEYS).map(show);
  return `${firstKeys.join(', ')}${allKeys.length > MAX_KEYS ? ', …' : ''}`;
}

/** Keys come from the server: they must not end our note, contain sentences or hide characters. */
function formatKey(key: string): string {
  return key
    .slice(0, MAX_KEY_CHARS)
    .replaceAll(
      /[^\p{L}\p{M}\p{N}_$.~-]|[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\p{Variation_Selector}]/gu,
      '?',
    );
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en-US');
}
