type Pair = readonly [number, number];

/** Beyond this many comparisons only the beginning and the end are compared. */
const MOST_CELLS = 4_000_000;

/** Where the longest sequence that both have lies in each: pairs of positions in order. */
export function common(a: readonly string[], b: readonly string[]): readonly Pair[] {
  const pairs: Pair[] = [];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) {
    pairs.push([start, start]);
    start += 1;
  }
  let [endA, endB] = [a.length, b.length];
  const tail: Pair[] = [];
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA -= 1;
    endB -= 1;
    tail.push([endA, endB]);
  }
  if ((endA - start) * (endB - start) <= MOST_CELLS) {
    const [innerA, innerB] = [a.slice(start, endA), b.slice(start, endB)];
    const inner = best(innerA.length, innerB.length, (i, j) => (innerA[i] === innerB[j] ? 1 : 0));
    for (const [i, j] of inner) pairs.push([i + start, j + start]);
  }
  return [...pairs, ...tail.toReversed()];
}

/** The pairs in order whose worth is the most together; what is worth nothing is no pair. */
export function best(rows: number, columns: number, worth: (i: number, j: number) => number): Pair[] {
  const width = columns + 1;
  const sums = new Float64Array((rows + 1) * width);
  const at = (i: number, j: number): number => sums[i * width + j] ?? 0;
  for (let i = rows - 1; i >= 0; i -= 1) {
    for (let j = columns - 1; j >= 0; j -= 1) {
      const own = worth(i, j);
      sums[i * width + j] = Math.max(at(i + 1, j), at(i, j + 1), own === 0 ? 0 : own + at(i + 1, j + 1));
    }
  }
  const pairs: Pair[] = [];
  let [i, j] = [0, 0];
  while (i < rows && j < columns) {
    if (at(i, j) === at(i + 1, j)) i += 1;
    else if (at(i, j) === at(i, j + 1)) j += 1;
    else {
      pairs.push([i, j]);
      i += 1;
      j += 1;
    }
  }
  return pairs;
}
