type IndexPair = readonly [number, number];

/** The maximum size of the comparison table. For longer lists, only the common beginning and end are found. */
const MAX_CELLS = 4_000_000;

/** Returns the longest common subsequence of two lists as pairs of indexes, in order. */
export function longestCommonSequence(a: readonly string[], b: readonly string[]): readonly IndexPair[] {
  const pairs: IndexPair[] = [];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    pairs.push([start, start]);
    start += 1;
  }
  let [endA, endB] = [a.length, b.length];
  const tail: IndexPair[] = [];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
    tail.push([endA, endB]);
  }
  if ((endA - start) * (endB - start) <= MAX_CELLS) {
    const [innerA, innerB] = [a.slice(start, endA), b.slice(start, endB)];
    const inner = bestAlignment(innerA.length, innerB.length, (i, j) => (innerA[i] === innerB[j] ? 1 : 0));
    for (const [i, j] of inner) pairs.push([i + start, j + start]);
  }
  return [...pairs, ...tail.toReversed()];
}

/**
 * Returns the pairs of rows and columns with the highest total score, in ascending order of both (dynamic programming). Pairs with a
 * score of 0 are not used.
 */
export function bestAlignment(
  rows: number,
  columns: number,
  score: (row: number, column: number) => number,
): IndexPair[] {
  const width = columns + 1;
  // `total(i, j)` is the best score of the rows from i and the columns from j, so the table is filled from its end.
  const totals = new Float64Array((rows + 1) * width);
  const total = (i: number, j: number): number => totals[i * width + j] ?? 0;
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const pairScore = score(i, j);
      const withPair = pairScore === 0 ? 0 : pairScore + total(i + 1, j + 1);
      totals[i * width + j] = Math.max(total(i + 1, j), total(i, j + 1), withPair);
    }
  }
  // Follows the best scores from the start. A pair was used where skipping either index would lower the score.
  const pairs: IndexPair[] = [];
  let [i, j] = [0, 0];
  while (i < rows && j < columns) {
    if (total(i, j) === total(i + 1, j)) i += 1;
    else if (total(i, j) === total(i, j + 1)) j += 1;
    else {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    }
  }
  return pairs;
}
