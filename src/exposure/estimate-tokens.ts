/** Kinds of characters. They are numbers, because strings took twice as long to compare and look up. */
const SPACE = 0;
const LATIN = 1;
const DIGIT = 2;
const SIGN = 3;
const IDEOGRAPH = 4;
const LETTER = 5;
const OTHER = 6;
/** An upper-case Latin letter. */
const UPPER = 7;

/**
 * The number of characters of each kind that count as one token, indexed by kind; `cost` has separate rules
 * for spaces and long words.
 */
const CHARS_PER_TOKEN = [Infinity, 10, 3, 4, 1.3, 4, 1, 10] as const;
const ASCII = Uint8Array.from({ length: 0x80 }, (_, code) => asciiKind(code));

/**
 * Estimates the tokens of a text. The estimate errs on the high side, so that budgets hold. Stops counting
 * once the number exceeds `stopAt`. Works character by character, because compiling a regular expression with
 * Unicode scripts takes longer than the whole estimate.
 */
export function estimateTokens(text: string, stopAt = Infinity): number {
  let tokens = 0;
  let start = 0;
  let previous = SPACE;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const kind = code < 0x80 ? (ASCII[code] ?? OTHER) : kindBeyond(code);
    if (kind === previous) continue;
    // Lower-case letters continue the word that an upper-case letter began: `Schema` is one word, `inputSchema` is two.
    if (kind !== LATIN || previous !== UPPER) {
      tokens += cost(previous, at - start);
      if (tokens > stopAt) return Math.ceil(tokens);
      start = at;
    }
    previous = kind;
  }
  return Math.ceil(tokens + cost(previous, text.length - start));
}

/** Longer runs of letters are not common words but keys, hashes or joined words. */
const LONG_WORD = 20;

/** Returns the tokens of a run of one kind of characters. A single space is part of the token of the next word and costs nothing. */
function cost(kind: number, run: number): number {
  if (kind === SPACE) return run > 1 ? Math.ceil(run / 100) : 0;
  if ((kind === LATIN || kind === UPPER) && run > LONG_WORD) return 2 + Math.ceil((run - LONG_WORD) / 3);
  const tokens = run / (CHARS_PER_TOKEN[kind] ?? 1);
  return kind === IDEOGRAPH ? tokens : Math.ceil(tokens);
}

function asciiKind(code: number): number {
  if (code >= 65 && code <= 90) return UPPER;
  if (code >= 97 && code <= 122) return LATIN;
  if (code >= 48 && code <= 57) return DIGIT;
  return code === 32 || (code >= 9 && code <= 13) ? SPACE : SIGN;
}

function kindBeyond(code: number): number {
  if (code >= 0xc0 && code <= 0x24f) return LATIN;
  if (code >= 0x370 && code <= 0x1fff) return LETTER;
  const isIdeograph = (code >= 0x2e80 && code <= 0xd7ff) || (code >= 0xf900 && code <= 0xfaff);
  return isIdeograph ? IDEOGRAPH : OTHER;
}
