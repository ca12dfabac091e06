import { isUtf8 } from 'node:buffer';

const QUOTE = 34;
const BACKSLASH = 92;
const RETURN = 13;
const NEWLINE = 10;
/** The length in bytes above which a string is emptied. Names, ids and links are never this long, so they stay in the outline. */
const LONG_STRING = 8192;
/** The maximum number of strings of any length. With more of them, parsing the whole text is faster. */
const MAX_STRINGS = 512;

/**
 * Returns the JSON text with its long strings emptied. Parsing this outline shows whether the text is one complete value. It costs a
 * fraction of parsing the text, because most of a large result is one long string. The content of long strings is not checked, only where
 * they end. Returns undefined if the whole text must be parsed.
 */
export function jsonOutline(bytes: Buffer): string | undefined {
  // The caller would pass the bytes on unchanged, and line breaks would end the line or event in which they are sent.
  if (bytes.includes(RETURN) || bytes.includes(NEWLINE) || !isUtf8(bytes)) return undefined;
  let outline = '';
  let copied = 0;
  let strings = 0;
  for (let open = bytes.indexOf(QUOTE); open >= 0;) {
    const close = endOfString(bytes, open);
    if (close < 0 || ++strings > MAX_STRINGS) return undefined;
    if (close - open > LONG_STRING) {
      outline += bytes.toString('utf8', copied, open + 1);
      copied = close;
    }
    open = bytes.indexOf(QUOTE, close + 1);
  }
  return copied === 0 ? undefined : outline + bytes.toString('utf8', copied);
}

/** Returns the offset of the closing quote, the next one with an even number of backslashes before it; -1 if there is none. */
function endOfString(bytes: Buffer, open: number): number {
  for (let at = bytes.indexOf(QUOTE, open + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
