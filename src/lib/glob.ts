/** `*` stands for any text and `?` for one character. Linear in practice, so that no pattern can hang us. */
export function matchesGlob(text: string, glob: string): boolean {
  // What most lists say, and thousands of names at a start are compared with.
  if (glob === '*') return true;
  let at = 0;
  let inGlob = 0;
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
      // The last star takes one character more.
      inGlob = star + 1;
      at = ++afterStar;
    } else {
      return false;
    }
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}
