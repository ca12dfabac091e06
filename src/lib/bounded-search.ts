const MAX_SOURCE = 500;
const MAX_REPEATS = 2;
/** What `*` and `+` may take at most, and how much of a text is looked at in one piece. */
const MAX_REPEAT = 100;
const PIECE = 4_096;
const OVERLAP = 512;

const ESCAPES_AND_SETS = /\\.|\[(?:\\.|[^\]\\])*\]/gs;

/** Why a regular expression of a person cannot be used; undefined when it can. */
export function searchProblem(source: string): string | undefined {
  if (source.length > MAX_SOURCE) return `is longer than ${MAX_SOURCE} characters`;
  const plain = source.replaceAll(ESCAPES_AND_SETS, 'x');
  if (/\)[*+{]/.test(plain)) return 'repeats a group, which can take very long';
  if (/\\[1-9k]/.test(source)) return 'refers back to a group, which can take very long';
  if ((plain.match(/[*+]|\{\d+,/g)?.length ?? 0) > MAX_REPEATS)
    return `repeats more than ${MAX_REPEATS} times ("*", "+", "{n,}"), which can take very long`;
  return isPattern(source) ? undefined : 'is no regular expression';
}

function isPattern(source: string): boolean {
  try {
    RegExp(source, 'iu');
    return true;
  } catch {
    return false; // The engine says so in words that change between versions.
  }
}

/**
 * Whether a text has what a regular expression of a person describes, in any case of letters. Repetitions end at 100 characters and a text
 * is looked at piece by piece, so that the time grows with its length and no faster. The source must have no problem.
 */
export function boundedSearch(source: string): (text: string) => boolean {
  const pattern = new RegExp(withBounds(source), 'iu');
  return (text) => {
    if (text.length <= PIECE) return pattern.test(text);
    for (let at = 0; at < text.length; at += PIECE - OVERLAP) {
      if (pattern.test(text.slice(at, at + PIECE))) return true;
    }
    return false;
  };
}

/** The same expression with repetitions that end; its matches of longer runs end there as well. */
export function withBounds(source: string): string {
  return source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]|[*+]|\{(\d+),\}/gs, (part, least?: string) => {
    if (part === '*') return `{0,${MAX_REPEAT}}`;
    if (part === '+') return `{1,${MAX_REPEAT}}`;
    return least === undefined ? part : `{${least},${Math.max(MAX_REPEAT, Number(least))}}`;
  });
}
