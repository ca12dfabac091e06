/** A word of at least this length is similar to every word that contains it. */
const ENOUGH_TO_CONTAIN = 3;
/** Longer words never count as similar, because servers and models choose the words, and comparing long words is slow. */
const MAX_LENGTH = 300;

/** Returns at most `max` candidates that are similar to `word`, the most similar first. */
export function findSimilar(word: string, candidates: Iterable<string>, max: number): string[] {
  if (word.length > MAX_LENGTH) return [];
  const wanted = fold(word);
  const found: { readonly candidate: string; readonly score: number }[] = [];
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const score = scoreOf(wanted, fold(candidate));
    if (score !== undefined) found.push({ candidate, score });
  }
  return found
    .toSorted((a, b) => a.score - b.score)
    .slice(0, max)
    .map(({ candidate }) => candidate);
}

/** Ignores case and word separators, which people confuse most. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_. ]/g, '');
}

/** Returns a score that is lower for more similar words; undefined if they are not similar. */
function scoreOf(a: string, b: string): number | undefined {
  const longer = Math.max(a.length, b.length);
  const shorter = Math.min(a.length, b.length);
  const bound = Math.max(1, Math.floor(longer / 3));
  const edits = editDistance(a, b, bound);
  if (edits !== undefined) return edits;
  if (shorter >= ENOUGH_TO_CONTAIN && (a.includes(b) || b.includes(a))) return longer;
  return undefined;
}

/** Returns the Damerau-Levenshtein distance, or undefined if it exceeds `bound`. */
function editDistance(a: string, b: string, bound: number): number | undefined {
  if (Math.abs(a.length - b.length) > bound) return undefined;
  // The table is computed row by row. Only the two rows before the current one are needed: `previous`, and `before` for swaps.
  let before: readonly number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwapped = j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? Infinity) + 1 : Infinity;
      const cell = Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      row.push(cell);
      if (cell < least) least = cell;
    }
    // The smallest value of a row never decreases from row to row, so the distance exceeds the bound, too.
    if (least > bound) return undefined;
    before = previous;
    previous = row;
  }
  const distance = previous[b.length] ?? 0;
  return distance > bound ? undefined : distance;
}
