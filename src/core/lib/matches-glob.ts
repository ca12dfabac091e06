/** Matches `*` (any text) and `?` (one character). Backtracks only to the most recent star, so no pattern takes exponential time. */
export function matchesGlob(text: string, glob: string): boolean {
  // This is the most frequent pattern: when the gateway starts, it matches thousands of names against it.
  if (glob === '*') return true;
  let at = 0;
  let globIndex = 0;
  // The position of the most recent star in the glob, and the position in the text where the match of that star ends.
  let starIndex = -1;
  let starEnd = 0;
  while (at < text.length) {
    if (glob[globIndex] === '*') {
      starIndex = globIndex++;
      starEnd = at;
    } else if (globIndex < glob.length && (glob[globIndex] === '?' || glob[globIndex] === text[at])) {
      globIndex++;
      at++;
    } else if (starIndex >= 0) {
      // Let the most recent star match one more character.
      globIndex = starIndex + 1;
      at = ++starEnd;
    } else {
      return false;
    }
  }
  while (glob[globIndex] === '*') globIndex++;
  return globIndex === glob.length;
}
