import { best, common } from './common.ts';

/** Parts of a line, with those that the other side does not have marked. */
export interface Piece {
  readonly text: string;
  readonly isChanged: boolean;
}

interface Side {
  readonly line: number;
  readonly pieces: readonly Piece[];
}

/** One line of a comparison; a side that has no such line is absent. */
export interface DiffRow {
  readonly before?: Side;
  readonly after?: Side;
  readonly isSame: boolean;
}

/** Lines that have less in common than this do not stand against each other. */
const ALIKE = 0.4;
/** Longer blocks are not searched for lines that are alike. */
const MOST_ALIKE = 60;

export function diffLines(before: string, after: string): readonly DiffRow[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const rows: DiffRow[] = [];
  let [i, j] = [0, 0];
  for (const [sameA, sameB] of [...common(a, b), [a.length, b.length] as const]) {
    rows.push(...replaced(a.slice(i, sameA), b.slice(j, sameB), i, j));
    if (sameA < a.length) {
      const pieces = [{ text: a[sameA] ?? '', isChanged: false }];
      rows.push({ before: { line: sameA + 1, pieces }, after: { line: sameB + 1, pieces }, isSame: true });
    }
    [i, j] = [sameA + 1, sameB + 1];
  }
  return rows;
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

/** Lines that are alike stand against each other, compared word by word; the others alone. */
function replaced(gone: readonly string[], come: readonly string[], fromA: number, fromB: number): DiffRow[] {
  const rows: DiffRow[] = [];
  let [i, j] = [0, 0];
  for (const [pairA, pairB] of [...alike(gone, come), [gone.length, come.length] as const]) {
    for (; i < pairA; i += 1) rows.push({ before: whole(gone[i], fromA + i), isSame: false });
    for (; j < pairB; j += 1) rows.push({ after: whole(come[j], fromB + j), isSame: false });
    if (pairA < gone.length) {
      const [left, right] = compared(gone[pairA] ?? '', come[pairB] ?? '');
      const before = { line: fromA + pairA + 1, pieces: left };
      rows.push({ before, after: { line: fromB + pairB + 1, pieces: right }, isSame: false });
    }
    [i, j] = [pairA + 1, pairB + 1];
  }
  return rows;
}

function alike(gone: readonly string[], come: readonly string[]): readonly (readonly [number, number])[] {
  if (gone.length > MOST_ALIKE || come.length > MOST_ALIKE) return [];
  const [a, b] = [gone.map(wordsOf), come.map(wordsOf)];
  return best(a.length, b.length, (i, j) => {
    const [left, right] = [new Set(a[i]), new Set(b[j])];
    let shared = 0;
    for (const word of left) if (right.has(word)) shared += 1;
    const share = (2 * shared) / Math.max(1, left.size + right.size);
    return share < ALIKE ? 0 : share;
  });
}

function whole(text = '', index: number): Side {
  return { line: index + 1, pieces: [{ text, isChanged: true }] };
}

function compared(before: string, after: string): [Piece[], Piece[]] {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  const pairs = common(a, b);
  return [marked(a, new Set(pairs.map(([at]) => at))), marked(b, new Set(pairs.map(([, at]) => at)))];
}

function wordsOf(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];
}

function marked(words: readonly string[], same: ReadonlySet<number>): Piece[] {
  const joined: { text: string; isChanged: boolean }[] = [];
  for (const [at, text] of words.entries()) {
    const isChanged = !same.has(at);
    const last = joined.at(-1);
    if (last?.isChanged === isChanged) last.text += text;
    else joined.push({ text, isChanged });
  }
  return joined;
}
