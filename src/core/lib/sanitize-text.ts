const MAX_CHARS = 500;

/** Makes text of a server safe to be quoted in a message: one line, no control or invisible characters, at most 500 characters. */
export function sanitizeText(text: string): string {
  return text
    .slice(0, 10 * MAX_CHARS)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, MAX_CHARS);
}
