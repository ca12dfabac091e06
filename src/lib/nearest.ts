const ENOUGH_TO_CONTAIN = 3;

/** At most `max` candidates that a person may have meant by `word`, the likeliest first. */
export function nearest(word: string, candidates: Iterable<string>, max: number): string[] {
  const wanted = fold(word);
  const found: { readonly candidate: string; readonly score: number }[] = [];
  for (const candidate of candidates) {
    const score = scoreOf(wanted, fold(candidate));
    if (score !== undefined) found.push({ candidate, score });
  }
  return found
    .toSorted((a, b) => a.score - b.score)
    .slice(0, max)
    .map(({ candidate }) => candidate);
}

/** Case and word separators are what people confuse most, so they do not count. */
function fold(word: string): string {
  return word.toLowerCase().replaceAll(/[-_. ]/g, '');
}

function scoreOf(a: string, b: string): number | undefined {
  const longer = Math.max(a.length, b.length);
  const shorter = Math.min(a.length, b.length);
  const bound = Math.max(1, Math.floor(longer / 3));
  const edits = editDistance(a, b, bound);
  if (edits !== undefined) return edits;
  if (shorter >= ENOUGH_TO_CONTAIN && (a.includes(b) || b.includes(a))) return longer;
  return undefined;
}

/** Letters that are wrong, missing, too many or swapped with their neighbour; undefined as soon as it must exceed `bound`. */
function editDistance(a: string, b: string, bound: number): number | undefined {
  if (Math.abs(a.length - b.length) > bound) return undefined;
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
    if (least > bound) return undefined;
    before = previous;
    previous = row;
  }
  const distance = previous[b.length] ?? 0;
  return distance > bound ? undefined : distance;
}
