/** Matches `*` (any text) and `?` (one character). Backtracks only to the last star, so no pattern takes exponential time. */
export function matchesGlob(text: string, glob: string): boolean {
  // This is the most frequent pattern; a start compares thousands of names with it.
  if (glob === '*') return true;
  let at = 0;
  let inGlob = 0;
  // The position of the last star in the glob, and the position in the text where the match of that star ends.
  let star = -1;
  let afterStar = 0;
  while (at < text.length) {
    if (glob[inGlob] === '*') {
      star = inGlob++;
      afterStar = at;
    } else if (inGlob < glob.length && (glob[inGlob] === '?' || glob[inGlob] === text[at])) {
      inGlob++;
      at++;
    } else if (star >= 0) {
      // Let the last star match one more character.
      inGlob = star + 1;
      at = ++afterStar;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}
