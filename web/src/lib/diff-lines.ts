import { bestAlignment, longestCommonSequence } from './longest-common-sequence.ts';

/** One row of a comparison. `before` or `after` is absent if the line was added or removed. */
export interface DiffRow {
  readonly before?: DiffSide;
  readonly after?: DiffSide;
  readonly isSame: boolean;
}

interface DiffSide {
  /** The line number, starting at 1. */
  readonly line: number;
  readonly parts: readonly LinePart[];
}

/** A part of a line. A changed part does not exist on the other side. */
export interface LinePart {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Lines are paired if they share at least this ratio of words, from 0 to 1. */
const MIN_SIMILARITY = 0.4;
/** In longer blocks, similar lines are not paired, because the comparison would be slow. */
const MAX_BLOCK_LINES = 60;

/** Compares two texts line by line, and similar lines word by word. */
export function diffLines(before: string, after: string): readonly DiffRow[] {
  const [a, b] = [splitLines(before), splitLines(after)];
  const rows: DiffRow[] = [];
  // The lines between two common lines form a changed block. The last pair marks the ends of both texts.
  let [i, j] = [0, 0];
  for (const [sameA, sameB] of [...longestCommonSequence(a, b), [a.length, b.length] as const]) {
    rows.push(...diffBlock(a.slice(i, sameA), b.slice(j, sameB), i, j));
    if (sameA < a.length) {
      const parts = [{ text: a[sameA] ?? '', isChanged: false }];
      rows.push({ before: { line: sameA + 1, parts }, after: { line: sameB + 1, parts }, isSame: true });
    }
    [i, j] = [sameA + 1, sameB + 1];
  }
  return rows;
}

function splitLines(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

/** Compares two blocks without common lines. Similar lines share a row, and every other line has its own row. */
function diffBlock(
  removed: readonly string[],
  added: readonly string[],
  offsetA: number,
  offsetB: number,
): DiffRow[] {
  const rows: DiffRow[] = [];
  let [i, j] = [0, 0];
  for (const [pairA, pairB] of [
    ...pairSimilarLines(removed, added),
    [removed.length, added.length] as const,
  ]) {
    for (; i < pairA; i += 1) rows.push({ before: wholeLine(removed[i], offsetA + i), isSame: false });
    for (; j < pairB; j += 1) rows.push({ after: wholeLine(added[j], offsetB + j), isSame: false });
    if (pairA < removed.length) {
      const [left, right] = diffWords(removed[pairA] ?? '', added[pairB] ?? '');
      const before = { line: offsetA + pairA + 1, parts: left };
      rows.push({ before, after: { line: offsetB + pairB + 1, parts: right }, isSame: false });
    }
    [i, j] = [pairA + 1, pairB + 1];
  }
  return rows;
}

/** Returns the index pairs of similar lines, in order. */
function pairSimilarLines(
  removed: readonly string[],
  added: readonly string[],
): readonly (readonly [number, number])[] {
  if (removed.length > MAX_BLOCK_LINES || added.length > MAX_BLOCK_LINES) return [];
  const [a, b] = [removed.map(splitWords), added.map(splitWords)];
  return bestAlignment(a.length, b.length, (i, j) => {
    const [left, right] = [new Set(a[i]), new Set(b[j])];
    let shared = 0;
    for (const word of left) if (right.has(word)) shared += 1;
    // The Dice coefficient: 1 for equal sets of words, 0 for sets without a common word.
    const similarity = (2 * shared) / Math.max(1, left.size + right.size);
    return similarity < MIN_SIMILARITY ? 0 : similarity;
  });
}

function wholeLine(text = '', index: number): DiffSide {
  return { line: index + 1, parts: [{ text, isChanged: true }] };
}

function diffWords(before: string, after: string): [LinePart[], LinePart[]] {
  const [a, b] = [splitWords(before), splitWords(after)];
  const pairs = longestCommonSequence(a, b);
  const sameInA = new Set(pairs.map(([index]) => index));
  const sameInB = new Set(pairs.map(([, index]) => index));
  return [markChanges(a, sameInA), markChanges(b, sameInB)];
}

function splitWords(line: string): string[] {
  return line.match(/[\p{L}\p{N}_]+|\s+|./gsu) ?? [];
}

/** Joins adjacent words into parts, each of which is changed or unchanged as a whole. */
function markChanges(words: readonly string[], same: ReadonlySet<number>): LinePart[] {
  const parts: { text: string; isChanged: boolean }[] = [];
  for (const [index, text] of words.entries()) {
    const isChanged = !same.has(index);
    const last = parts.at(-1);
    if (last?.isChanged === isChanged) last.text += text;
    else parts.push({ text, isChanged });
  }
  return parts;
}
