const MAX_REPAIRED = 4;

/** Finds the terms that an unknown word may be meant to be: it begins them, consists of them, or differs by a typing error. */
export function repairer(
  terms: Iterable<readonly [term: string, id: number]>,
): (word: string) => readonly number[] {
  let buckets: ReadonlyMap<string, readonly (readonly [string, number])[]> | undefined;
  let ids: ReadonlyMap<string, number> | undefined;
  return (word) => {
    if (word.length < 4 || !/^\p{L}+$/u.test(word)) return [];
    buckets ??= byFirstLetter(terms);
    ids ??= new Map([...buckets.values()].flat());
    const bucket = buckets.get(word.slice(0, 1)) ?? [];
    const near = misspelt(word, bucket);
    if (near.length > 0) return near;
    const halves = split(word, ids);
    if (halves.length > 0) return halves;
    return bucket
      .filter(([term]) => term.length <= word.length + 4 && term.startsWith(word))
      .slice(0, MAX_REPAIRED)
      .map(([, id]) => id);
  };
}

function byFirstLetter(
  terms: Iterable<readonly [term: string, id: number]>,
): ReadonlyMap<string, readonly (readonly [string, number])[]> {
  const buckets = new Map<string, (readonly [string, number])[]>();
  for (const pair of terms) {
    const letter = pair[0].slice(0, 1);
    const bucket = buckets.get(letter);
    if (bucket === undefined) buckets.set(letter, [pair]);
    else bucket.push(pair);
  }
  return buckets;
}

/** A word of two known words: `filesystem` where documents say `file system`. */
function split(word: string, ids: ReadonlyMap<string, number>): readonly number[] {
  for (let at = 3; at <= word.length - 3; at += 1) {
    const head = ids.get(word.slice(0, at));
    const tail = ids.get(word.slice(at));
    if (head !== undefined && tail !== undefined) return [head, tail];
  }
  return [];
}

function misspelt(word: string, bucket: readonly (readonly [string, number])[]): readonly number[] {
  const bound = word.length >= 8 ? 2 : word.length >= 5 ? 1 : 0;
  if (bound === 0) return [];
  const found: { readonly id: number; readonly edits: number }[] = [];
  for (const [term, id] of bucket) {
    if (Math.abs(term.length - word.length) > bound) continue;
    const edits = editsBetween(word, term, bound);
    if (edits <= bound) found.push({ id, edits });
  }
  return found
    .sort((one, other) => one.edits - other.edits || one.id - other.id)
    .slice(0, MAX_REPAIRED)
    .map(({ id }) => id);
}

/** Insertions, deletions, replacements and swaps of neighbours; more than `bound` is only known to be more. */
function editsBetween(a: string, b: string, bound: number): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      let cell = Math.min(
        (previous[j - 1] ?? 0) + (isSame ? 0 : 1),
        (previous[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cell = Math.min(cell, (before[j - 2] ?? 0) + 1);
      row.push(cell);
      if (cell < least) least = cell;
    }
    if (least > bound) return bound + 1;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
