/**
 * JavaScript rounds `9223372036854775807`, turns `1e400` into nothing and `-0` into `0`. Such numbers travel through us
 * as strings with a mark, and become the same digits again when they are written. Strings that begin like the mark get
 * its first character once more, so that nobody can write a string that becomes a number.
 */
const LEAD = '\uE000';
const MARK = `${LEAD}exact:`;
/**
 * JSON.stringify leaves private-use characters as they are, so the mark is the same in text. A quote that belongs to a
 * string has a backslash before it, one that opens a string never has.
 */
const MARKED = /(?<!\\)"\uE000(?:exact:(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"|(?=\uE000))/g;
/** It begins with the digit, so that most of a text is passed over at once: half of what two alternatives take. */
const LONG_NUMBER = /\d(?:[\d.]{15}|[eE][+-]?\d)/;
const MINUS_ZERO = /-0(?:\.0*)?(?![\d.])/;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING_LIKE_MARK = /"(?:\uE000|\\u[eE]000)/y;

export function parseExact(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!isSuspicious(text)) return value;
  const disguised = disguise(text);
  return disguised === text ? value : JSON.parse(disguised);
}

export function stringifyExact(value: unknown, indent?: number): string {
  return exactText(JSON.stringify(value, undefined, indent) ?? 'null');
}

/** What was written of values with marks, with the digits that were meant. */
export function exactText(text: string): string {
  return text.includes(LEAD) ? text.replace(MARKED, (_, literal?: string) => literal ?? '"') : text;
}

/** Cheap and never wrong in the direction that matters: any other text has only exact numbers and no mark. */
function isSuspicious(text: string): boolean {
  if (LONG_NUMBER.test(text) || (text.includes('-0') && MINUS_ZERO.test(text))) return true;
  return text.includes(LEAD) || text.includes('\\ue000') || text.includes('\\uE000');
}

/** The text must be valid JSON. */
function disguise(text: string): string {
  let out = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      STRING_LIKE_MARK.lastIndex = at;
      if (STRING_LIKE_MARK.test(text)) {
        out += `${text.slice(copied, at + 1)}${LEAD}`;
        copied = at + 1;
      }
      at = endOfString(text, at);
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      NUMBER.lastIndex = at;
      const literal = NUMBER.exec(text)?.[0] ?? text[at] ?? '';
      if (!isExact(literal)) {
        out += `${text.slice(copied, at)}"${MARK}${literal}"`;
        copied = at + literal.length;
      }
      at += literal.length - 1;
    }
  }
  return copied === 0 ? text : out + text.slice(copied);
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === 92) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}

/**
 * Whether JavaScript writes the same number again, be it in other words. Not in words that turn a whole number into one
 * with an exponent: many readers take that for a float, which no longer equals the id or key that was meant.
 */
function isExact(literal: string): boolean {
  const written = JSON.stringify(Number(literal));
  if (written === literal) return true;
  if (written.includes('e') && !/[.eE]/.test(literal)) return false;
  return decimal(written) === decimal(literal);
}

/** Equal for two literals exactly when they are the same number with the same sign. */
function decimal(literal: string): string | undefined {
  const [, sign, whole = '', fraction = '', exponent = '0'] = LITERAL.exec(literal) ?? [];
  if (sign === undefined) return undefined; // Too large: it was written as `null`.
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return `${sign}0`;
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

const LITERAL = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
