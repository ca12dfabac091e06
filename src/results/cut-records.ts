import { Cuts } from './cuts.ts';

/** Containers are looked into so deep; each level may read the text once. */
const MAX_DEPTH = 8;
/** What may stand around a value in its unit: its key, a comma, an indentation. */
const SLACK = 200;

const [QUOTE, COMMA, BACKSLASH] = [34, 44, 92];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [91, 93, 123, 125];

/** A text that is valid JSON as records: members of whatever is too long for one unit, in the text's own bytes. */
export function cutRecords(text: string, most: number): Cuts {
  const cuts = new Cuts(text, most);
  walk(skipSpace(text, 0), 0);
  return cuts.finish();

  /** Gives the end of the value that begins here. */
  function walk(begin: number, depth: number): number {
    const short = valueEnd(text, begin, Math.max(most - SLACK, most / 2));
    if (short !== undefined) return short;
    const first = text.charCodeAt(begin);
    const isContainer = first === OPEN_ARRAY || first === OPEN_OBJECT;
    if (!isContainer || depth === MAX_DEPTH) return valueEnd(text, begin, Infinity) ?? text.length;
    let at = skipSpace(text, begin + 1);
    while (at < text.length && !isClose(text.charCodeAt(at))) {
      if (first === OPEN_OBJECT) at = skipSpace(text, skipSpace(text, stringEnd(text, at)) + 1);
      at = skipSpace(text, walk(at, depth + 1));
      if (text.charCodeAt(at) === COMMA) {
        at = skipSpace(text, at + 1);
        cuts.add(at);
      }
    }
    return at + 1;
  }
}

function isClose(code: number): boolean {
  return code === CLOSE_ARRAY || code === CLOSE_OBJECT;
}

/** Undefined when the value is longer than `most`. */
function valueEnd(text: string, begin: number, most: number): number | undefined {
  const limit = begin + most;
  let depth = 0;
  for (let at = begin; at < text.length && at <= limit; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = stringEnd(text, at) - 1;
      if (depth === 0) return at < limit ? at + 1 : undefined;
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) depth += 1;
    else if (isClose(code)) {
      // The end of what is around a number or a word.
      if (depth === 0) return at;
      depth -= 1;
      if (depth === 0) return at + 1;
    } else if (depth === 0 && (code === COMMA || isSpace(code))) return at;
  }
  return text.length <= limit ? text.length : undefined;
}

/** Behind the closing quote. */
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
