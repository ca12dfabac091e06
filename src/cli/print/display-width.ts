/** Ranges of characters that take two columns on a terminal, from the Unicode table of East Asian widths. */
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
const PRINTABLE_ASCII = /^[\u0020-\u007e]*$/;
/** Matches emoji, which take two columns. */
const EMOJI = /^(?:\p{Emoji_Presentation}|\p{Extended_Pictographic}\uFE0F|\p{Regional_Indicator}{2})/u;
/** Matches combining marks, format characters and line separators, which take no column. */
const INVISIBLE = /^[\p{M}\p{Cf}\p{Zl}\p{Zp}]+$/u;

/**
 * Returns how many columns a text takes on a terminal. The text must not contain colour codes. `string-width` is not used, because
 * it creates an `Intl.Segmenter` when it is imported, which takes longer than the rest of `--help` (docs/decisions/dependencies.md).
 */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length;
  return splitGraphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
}

/** Shortens a text to at most this many columns. A shortened text ends in an ellipsis. */
export function truncate(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let used = 0;
  let start = '';
  for (const grapheme of splitGraphemes(text)) {
    used += graphemeWidth(grapheme);
    if (used > width - 1) break;
    start += grapheme;
  }
  return `${start.trimEnd()}…`;
}

/** Splits a text into lines of at most this many columns, at spaces if possible. */
export function wrapText(text: string, width: number): readonly string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, Math.max(1, width)));
}

function wrapLine(line: string, width: number): readonly string[] {
  const lines: string[] = [];
  let current = '';
  for (const word of line.split(' ')) {
    const joined = current === '' ? word : `${current} ${word}`;
    if (displayWidth(joined) <= width) {
      current = joined;
      continue;
    }
    if (current !== '') lines.push(current);
    const pieces = breakWord(word, width);
    lines.push(...pieces.slice(0, -1));
    current = pieces.at(-1) ?? '';
  }
  return [...lines, current];
}

/** Splits a word that is wider than a line. */
function breakWord(word: string, width: number): readonly string[] {
  if (displayWidth(word) <= width) return [word];
  const pieces: string[] = [];
  let piece = '';
  for (const grapheme of splitGraphemes(word)) {
    if (piece !== '' && displayWidth(piece + grapheme) > width) {
      pieces.push(piece);
      piece = '';
    }
    piece += grapheme;
  }
  return [...pieces, piece];
}

function splitGraphemes(text: string): readonly string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

function graphemeWidth(grapheme: string): number {
  const code = grapheme.codePointAt(0) ?? 0;
  // All characters below the first combining mark take one column.
  if (code < 0x300) return 1;
  if (INVISIBLE.test(grapheme)) return 0;
  if (EMOJI.test(grapheme)) return 2;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}
