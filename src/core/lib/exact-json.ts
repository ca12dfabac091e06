/**
 * Parses and writes JSON without changing numbers. `JSON.parse` followed by `JSON.stringify` rounds `9223372036854775807`, and turns
 * `1e400` into `null` and `-0` into `0`. `parseExact` turns such numbers into strings that begin with a mark, and `stringifyExact` writes
 * their original digits again. If a string in the input already begins with the first character of the mark, `parseExact` doubles that
 * character, so that `stringifyExact` does not mistake the string for a number.
 */
const LEAD = '\uE000';
const MARK = `${LEAD}exact:`;
/**
 * Matches a marked number in a JSON text. JSON.stringify does not escape private-use characters, so the text contains the mark unchanged.
 * The lookbehind skips a quote inside a string, because a backslash precedes it.
 */
const MARKED_NUMBER = /(?<!\\)"\uE000exact:(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"/g;
/** Matches the opening quote of a string with a doubled first character, and the first of the two characters. */
const DOUBLED_LEAD = /(?<!\\)"\uE000(?=\uE000)/g;
/**
 * Matches a number that may be inexact, except `-0`: one with an exponent, or with at least 16 characters that are digits or the decimal
 * point. Both alternatives share the first digit, which is twice as fast as two separate patterns, because the engine skips all text
 * without digits.
 */
const LONG_NUMBER = /\d(?:[\d.]{15}|[eE][+-]?\d)/;
const MINUS_ZERO = /-0(?:\.0*)?(?![\d.])/;
/** Matches only numbers of JSON, so that marking makes no invalid text valid. */
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const NOT_SIGNIFICANT = /^[-0.]+|\.|[eE].*/g;
const INTEGER = /^-?\d+$/;
/** The lengths of the longest safe integer and of the longest number that JavaScript writes, both with a minus sign. */
const MAX_INTEGER_CHARS = 17;
const MAX_NUMBER_CHARS = 25;
/** Every integer with this many digits is safe. */
const SAFE_INTEGER_DIGITS = 15;
/** Matches after a number that is used as a key, which is invalid. */
const KEY_END = /\s*:/y;
const STRING_LIKE_MARK = /"(?:\uE000|\\u[eE]000)/y;

/** Parses a JSON text like `JSON.parse`, but returns inexact numbers as marked strings. */
export function parseExact(text: string): unknown {
  return JSON.parse(mayNeedMarks(text) ? markNumbers(text) : text);
}

/** Serializes a value that `parseExact` returned, with the original digits of its numbers. */
export function stringifyExact(value: unknown, indent?: number): string {
  return restoreNumbers(JSON.stringify(value, undefined, indent) ?? 'null');
}

/** Replaces marked strings by ordinary numbers, which may be rounded. Returns the same value if it contains no marks. */
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
  const restored = text.replace(MARKED_NUMBER, '$1');
  return restored.includes(LEAD) ? restored.replace(DOUBLED_LEAD, '"') : restored;
}

/** Whether the text may contain an inexact number or a mark. The check is cheap; it has false positives but no false negatives. */
function mayNeedMarks(text: string): boolean {
  if (LONG_NUMBER.test(text) || (text.includes('-0') && MINUS_ZERO.test(text))) return true;
  return text.includes(LEAD) || text.includes('\\ue000') || text.includes('\\uE000');
}

/**
 * Replaces inexact numbers in a JSON text by marked strings, and doubles the first character of strings that begin like the mark. An
 * invalid text stays invalid.
 */
function markNumbers(text: string): string {
  let out = '';
  // `out` already covers the text before this offset.
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
      at = findClosingQuote(text, at);
    } else if (code === 45 || isDigit(code)) {
      const end = findNumberEnd(text, at);
      if (!isExactAt(text, at, end) && !isKey(text, end)) {
        out += `${text.slice(copied, at)}"${MARK}${text.slice(at, end)}"`;
        copied = end;
      }
      at = end - 1;
    }
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** Returns the end of the number that begins at `at`; `at + 1` if there is none. */
function findNumberEnd(text: string, at: number): number {
  // Most numbers are integers without a sign, which need no regular expression.
  let end = at;
  while (isDigit(text.charCodeAt(end))) end++;
  const next = text.charCodeAt(end);
  const hasLeadingZero = text.charCodeAt(at) === 48 && end > at + 1;
  // 44, 93 and 125 end an element or a member.
  if (end > at && !hasLeadingZero && (next === 44 || next === 93 || next === 125)) return end;
  NUMBER.lastIndex = at;
  return NUMBER.test(text) ? NUMBER.lastIndex : at + 1;
}

/** Whether JavaScript preserves the number between the offsets. */
function isExactAt(text: string, at: number, end: number): boolean {
  let digitsEnd = at;
  while (digitsEnd < end && isDigit(text.charCodeAt(digitsEnd))) digitsEnd++;
  if (digitsEnd < end) return isExact(text.slice(at, end));
  // An integer without a sign.
  if (end - at <= SAFE_INTEGER_DIGITS) return true;
  return end - at <= MAX_INTEGER_CHARS && isExact(text.slice(at, end));
}

function isKey(text: string, end: number): boolean {
  const next = text.charCodeAt(end);
  if (next === 44 || next === 93 || next === 125) return false;
  KEY_END.lastIndex = end;
  return KEY_END.test(text);
}

/** Returns the offset of the closing quote: the next one with an even number of backslashes before it. */
function findClosingQuote(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/**
 * Whether JavaScript preserves the number. Another notation of the same number is fine, except for an integer that JavaScript writes with
 * an exponent: many parsers would read it as a float, which does not equal the original id or key.
 */
function isExact(literal: string): boolean {
  // A longer literal has more digits than JavaScript preserves. Rejecting it here avoids the expensive comparison below.
  if (literal.length > (INTEGER.test(literal) ? MAX_INTEGER_CHARS : MAX_NUMBER_CHARS)) return false;
  const value = Number(literal);
  const written = String(value);
  if (written === literal) return true;
  // JavaScript wrote an integer differently, so it was rounded, or lost the sign of `-0`.
  if (!Number.isFinite(value) || Object.is(value, -0) || INTEGER.test(literal)) return false;
  return significantDigits(written) === significantDigits(literal);
}

/** Returns the digits without zeros at both ends. Two literals whose values differ only by rounding are equal if these digits are. */
function significantDigits(literal: string): string {
  const digits = literal.replace(NOT_SIGNIFICANT, '');
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 48) end--;
  return digits.slice(0, end);
}
