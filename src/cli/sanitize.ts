/** Removes control characters and bidirectional overrides, because text from servers must not control the terminal. */
export function sanitize(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '');
}

/** Like `sanitize`, but keeps the colours of `Paint`, which cannot hide or move text. */
export function sanitizeColoured(text: string): string {
  return text
    .split(PAINT_CODE)
    .map((part, at) => (at % 2 === 1 ? part : sanitize(part)))
    .join('');
}

/** Matches the escape sequences that `createPaint` writes. With the capturing group, every second part of a split text is a match. */
const PAINT_CODE = /(\u001b\[(?:1|2|22|31|32|33|36|39)m)/;

/**
 * Makes JSON text safe for a terminal without changing its value. Raw control characters below U+0020 occur in JSON only between
 * tokens, so they become spaces. The other characters occur only inside strings, so they become escapes.
 */
export function sanitizeJson(text: string): string {
  return text.replaceAll(
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => (character < ' ' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}

/** Returns the first value that is a non-empty string, sanitized and on one line. Returns an empty string if there is none. */
export function toOneLine(...texts: readonly unknown[]): string {
  for (const text of texts) {
    if (typeof text !== 'string') continue;
    const line = sanitize(text.replaceAll(/\s+/g, ' ')).trim();
    if (line !== '') return line;
  }
  return '';
}
