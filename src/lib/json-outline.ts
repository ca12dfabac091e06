import { isUtf8 } from 'node:buffer';

const QUOTE = 34;
const BACKSLASH = 92;
const RETURN = 13;
const NEWLINE = 10;
/** Names, ids and links are never that long; what is shorter stays, so that they can be seen. */
const LONG_STRING = 8192;
/** A text of many strings is read faster as a whole than string by string. */
const MAX_STRINGS = 512;

/**
 * A JSON text whose long strings are empty: reading it tells whether the whole is one value with nothing behind it, at a
 * fraction of the cost, since most of a large result is one long string. What is inside of the long strings is not looked at;
 * where they end is. Undefined where the text has to be read as a whole.
 */
export function jsonOutline(bytes: Buffer): string | undefined {
  // Line breaks would end the line, or the event, in which the bytes are passed on.
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

function endOfString(bytes: Buffer, open: number): number {
  for (let at = bytes.indexOf(QUOTE, open + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
    let slashes = 0;
    while (bytes[at - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}
