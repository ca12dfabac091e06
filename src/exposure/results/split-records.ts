import { TextUnits } from './text-units.ts';

/** Arrays and objects nested deeper than this are not split. The limit bounds the time, because each level may read the text once. */
const MAX_DEPTH = 8;
/** Characters that a unit may need besides its value: the key, a comma, the indentation. */
const SLACK = 200;

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/**
 * Splits a valid JSON text into records: a value that is too long for one unit is split between its members. Joined, the records are the
 * unchanged text.
 */
export function splitRecords(text: string, maxLength: number): TextUnits {
  const units = new TextUnits(text, maxLength);
  walk(skipSpace(text, 0), 0);
  return units.finish();

  /** Ends a unit after each member of a value that is too long, and returns the end of the value. */
  function walk(begin: number, depth: number): number {
    const shortEnd = valueEnd(text, begin, Math.max(maxLength - SLACK, maxLength / 2));
    if (shortEnd !== undefined) return shortEnd;
    const first = text.charCodeAt(begin);
    const isContainer = first === OPEN_ARRAY || first === OPEN_OBJECT;
    if (!isContainer || depth === MAX_DEPTH) return valueEnd(text, begin, Infinity) ?? text.length;
    let at = skipSpace(text, begin + 1);
    while (at < text.length && !isClose(text.charCodeAt(at))) {
      // Skips the key and the colon.
      if (first === OPEN_OBJECT) at = skipSpace(text, skipSpace(text, stringEnd(text, at)) + 1);
      at = skipSpace(text, walk(at, depth + 1));
      if (text.charCodeAt(at) === COMMA) {
        at = skipSpace(text, at + 1);
        units.add(at);
      }
    }
    return at + 1;
  }
}

function isClose(code: number): boolean {
  return code === CLOSE_ARRAY || code === CLOSE_OBJECT;
}

/** Returns the end of a value, or undefined if the value is longer than `maxLength`. */
function valueEnd(text: string, begin: number, maxLength: number): number | undefined {
  const limit = begin + maxLength;
  let depth = 0;
  for (let at = begin; at < text.length && at <= limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at < limit ? at + 1 : undefined;
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth += 1;
    else if (isClose(code)) {
      // The container around a number or a literal ends here, and so does the value.
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return at;
  }
  return text.length <= limit ? text.length : undefined;
}

/** Returns the position after the closing quote. */
function stringEnd(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(code: number): boolean {
  return code === 32 || code === 10 || code === 13 || code === 9;
}
