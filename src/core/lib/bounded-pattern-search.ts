/** The maximum length of a pattern in characters. */
const MAX_SOURCE = 500;
/** The maximum number of repetitions in a pattern. */
const MAX_REPEATS = 2;
/** The maximum number of characters that one repetition matches. */
const MAX_REPEAT = 100;
/** The size in characters of the pieces in which a text is searched. They overlap, so a match across the end of a piece is found. */
const PIECE = 4_096;
const OVERLAP = 512;

/** Matches escapes and character classes, in which `*`, `+` and `{` are literal. */
const ESCAPES_AND_SETS = /\\.|\[(?:\\.|[^\]\\])*\]/gs;

/** Returns why a regular expression from the configuration is rejected, or undefined if it is accepted. */
export function findPatternProblem(source: string): string | undefined {
  if (source.length > MAX_SOURCE) return `is longer than ${MAX_SOURCE} characters`;
  const plain = source.replaceAll(ESCAPES_AND_SETS, 'x');
  if (/\)[*+{]/.test(plain)) return 'repeats a group, which can take very long';
  if (/\\[1-9k]/.test(source)) return 'refers back to a group, which can take very long';
  if ((plain.match(/[*+]|\{\d+,/g)?.length ?? 0) > MAX_REPEATS)
    return `repeats more than ${MAX_REPEATS} times ("*", "+", "{n,}"), which can take very long`;
  return isPattern(source) ? undefined : 'is not a regular expression';
}

function isPattern(source: string): boolean {
  try {
    RegExp(source, 'iu');
    return true;
  } catch {
    return false; // The message of the engine is not used, because it differs between versions.
  }
}

/**
 * Returns a case-insensitive search for a regular expression from the configuration. Repetitions match at most 100 characters and a text
 * is searched in pieces, so the time grows linearly with its length. `findPatternProblem` must have accepted the source.
 */
export function compileBoundedPattern(source: string): (text: string) => boolean {
  const pattern = new RegExp(boundRepetitions(source), 'iu');
  return (text) => {
    if (text.length <= PIECE) return pattern.test(text);
    for (let at = 0; at < text.length; at += PIECE - OVERLAP) {
      if (pattern.test(text.slice(at, at + PIECE))) return true;
    }
    return false;
  };
}

/** Returns the expression with an upper bound for every repetition. A match of a longer run ends at the bound. */
export function boundRepetitions(source: string): string {
  return source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]|[*+]|\{(\d+),\}/gs, (part, least?: string) => {
    if (part === '*') return `{0,${MAX_REPEAT}}`;
    if (part === '+') return `{1,${MAX_REPEAT}}`;
    return least === undefined ? part : `{${least},${Math.max(MAX_REPEAT, Number(least))}}`;
  });
}
