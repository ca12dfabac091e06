import { parseExact, stringifyExact } from '../lib/exact-json.ts';
import { isJsonObject } from '../model/json.ts';

/** Whether a member only says again what one of the texts says, as the protocol wants it of structured content. */
export function repeats(value: unknown, texts: readonly string[]): boolean {
  const inner = isJsonObject(value) ? Object.values(value) : [];
  const [only] = inner;
  if (inner.length === 1 && typeof only === 'string' && texts.includes(only)) return true;
  const written = stringifyExact(value);
  return texts.some((text) => text === written || (isNear(text, written) && isSame(text, written)));
}

/** The same value, indented or not; anything else is not worth parsing. */
function isNear(text: string, written: string): boolean {
  return text.length >= written.length && text.length <= 4 * written.length;
}

function isSame(text: string, written: string): boolean {
  try {
    return stringifyExact(parseExact(text)) === written;
  } catch {
    // It is no JSON, so it is not the same.
    return false;
  }
}
