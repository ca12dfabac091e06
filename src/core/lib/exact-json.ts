/**
 * Parses and writes JSON without loss of numbers. JavaScript rounds `9223372036854775807`, turns `1e400` into `null` and `-0` into `0`.
 * `parseExact` turns such numbers into marked strings, and `stringifyExact` writes the original digits again. If a string of a client or
 * server begins with the first character of the mark, that character is doubled, so the string cannot become a number.
 */
const LEAD = '\uE000';
const MARK = `${LEAD}exact:`;
/**
 * These match a marked number, and the quote and first character of a string whose first character was doubled. JSON.stringify does not
 * escape private-use characters, so the mark is unchanged in the text. The lookbehind skips quotes inside a string, which follow a
 * backslash.
 */
const MARKED = /(?<!\\)"\uE000exact:(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"/g;
const DOUBLED = /(?<!\\)"\uE000(?=\uE000)/g;
/**
 * Matches at least 16 digits and points in a row, or an exponent: apart from `-0`, only such numbers can be inexact. The pattern begins
 * with the digit, so that the engine skips most of a text, which is twice as fast as two alternatives.
 */
const LONG_NUMBER = /\d(?:[\d.]{15}|[eE][+-]?\d)/;
const MINUS_ZERO = /-0(?:\.0*)?(?![\d.])/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING_LIKE_MARK = /"(?:\uE000|\\u[eE]000)/y;

/** Parses a JSON text like `JSON.parse`, with inexact numbers as marked strings. */
export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!mayNeedMarks(text)) return value;
  const marked = markNumbers(text);
  return marked === text ? value : JSON.parse(marked);
}

/** Serializes a value of `parseExact` with the original digits of its numbers. */
export function stringifyExact(value: unknown, indent?: number): string {
  return restoreNumbers(JSON.stringify(value, undefined, indent) ?? 'null');
}

/** Returns the value with numbers, perhaps rounded, instead of marked strings. A value without marks is returned as it is. */
export function withRoundedNumbers(value: unknown): unknown {
  return hasMarks(value) ? JSON.parse(stringifyExact(value)) : value;
}

function hasMarks(value: unknown): boolean {
  if (typeof value === 'string') return value.startsWith(LEAD);
  if (typeof value !== 'object' || value === null) return false;
  for (const key in value)
    if (key.startsWith(LEAD) || hasMarks((value as Record<string, unknown>)[key])) return true;
  return false;
}

/** Replaces the marked strings in a JSON text by their numbers, and undoes the doubling. */
export function restoreNumbers(text: string): string {
  if (!text.includes(LEAD)) return text;
  const restored = text.replace(MARKED, '$1');
  return restored.includes(LEAD) ? restored.replace(DOUBLED, '"') : restored;
}

/** Whether the text may contain an inexact number or a mark. The check is cheap; it has false positives but no false negatives. */
function mayNeedMarks(text: string): boolean {
  if (LONG_NUMBER.test(text) || (text.includes('-0') && MINUS_ZERO.test(text))) return true;
  return text.includes(LEAD) || text.includes('\\ue000') || text.includes('\\uE000');
}

/** Replaces inexact numbers of a valid JSON text by marked strings, and doubles the first character of strings that begin like the mark. */
function markNumbers(text: string): string {
  let out = '';
  // The part of the text before this offset is in `out`.
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // 34 is a quote, 45 a minus sign, and 48 to 57 are digits.
    if (code === 34) {
      STRING_LIKE_MARK.lastIndex = at;
      if (STRING_LIKE_MARK.test(text)) {
        out += `${text.slice(copied, at + 1)}${LEAD}`;
        copied = at + 1;
      }
      at = endOfString(text, at);
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      NUMBER.lastIndex = at;
      const end = NUMBER.test(text) ? NUMBER.lastIndex : at + 1;
      const literal = text.slice(at, end);
      if (!isExact(literal)) {
        out += `${text.slice(copied, at)}"${MARK}${literal}"`;
        copied = end;
      }
      at = end - 1;
    }
  }
  return copied === 0 ? text : out + text.slice(copied);
}

/** Returns the offset of the closing quote: the next one with an even number of backslashes before it. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/**
 * Whether JavaScript writes an equal number, perhaps in another notation. An integer must not get an exponent, because many parsers would
 * read it as a float, which no longer equals the original id or key.
 */
function isExact(literal: string): boolean {
  const value = Number(literal);
  const written = String(value);
  if (written === literal) return true;
  // An integer has only one notation without an exponent, so another text is another number, or another sign of zero.
  if (!Number.isFinite(value) || INTEGER.test(literal)) return false;
  return decimal(written) === decimal(literal);
}

/** Returns a normal form (sign, significant digits, exponent), which two literals share exactly if they are the same number and sign. */
function decimal(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

const INTEGER = /^-?\d+$/;
const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
