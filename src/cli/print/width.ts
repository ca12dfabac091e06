/** Ranges of characters that take two columns on a terminal, as the Unicode tables of East Asian width have them. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1b000, 0x1b2ff],
  [0x1f200, 0x1f2ff],
  [0x20000, 0x3fffd],
];
const PLAIN = /^[\u0020-\u007e]*$/;
const PICTURE = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}{2})/u;
const NOTHING = /^[\p{M}\p{Cf}\p{Zl}\p{Zp}]+$/u;

/** How many columns a text takes on a terminal. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return letters(text).reduce((sum, letter) => sum + widthOfLetter(letter), 0);
}

/** At most that many columns of it, ending in an ellipsis where something is missing. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let used = 0;
  let kept = '';
  for (const letter of letters(text)) {
    used += widthOfLetter(letter);
    if (used > width - 1) break;
    kept += letter;
  }
  return `${kept.trimEnd()}…`;
}

/** The lines of a text, none wider than that, broken at spaces where there are any. */
export function wrap(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, width)));
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (widthOf(joined) <= width) {
      current = joined;
      continue;
    }
    if (current !== '') lines.push(current);
    const pieces = broken(word, width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
  }
  return [...lines, current];
}

/** A word that does not fit a line by itself, in pieces that do. */
function broken(word: string, width: number): readonly string[] {
  if (widthOf(word) <= width) return [word];
  const pieces: string[] = [];
  let piece = '';
  for (const letter of letters(word)) {
    if (piece !== '' && widthOf(piece + letter) > width) {
      pieces.push(piece);
      piece = '';
    }
    piece += letter;
  }
  return [...pieces, piece];
}

/** What a person takes for one character. */
function letters(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function widthOfLetter(letter: string): number {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (NOTHING.test(letter)) return 0;
  if (PICTURE.test(letter)) return 2;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}
