/** The maximum number of known terms for one unknown word. */
const MAX_REPAIRED = 4;
/** Shorter words are repaired only if two neighbouring letters are swapped. */
const MIN_REPAIRED = 4;
/** The cache is cleared when it has this many words. */
const MAX_CACHED = 1_000;

interface Term {
  readonly term: string;
  readonly id: number;
  /** A bit set of the letters in the term. Letters beyond `a` to `z` share bits, which only makes the filter less strict. */
  readonly letters: number;
}

/**
 * Returns a function that finds the known terms for an unknown word: terms with a similar spelling, otherwise the two halves of the word,
 * otherwise terms that begin with it.
 */
export function createTermRepair(
  terms: Iterable<readonly [term: string, id: number]>,
  isWord: (word: string) => boolean = () => false,
): (word: string) => readonly number[] {
  let buckets: ReadonlyMap<string, readonly Term[]> | undefined;
  let ids: ReadonlyMap<string, number> | undefined;
  const cache = new Map<string, readonly number[]>();
  const find = (word: string): readonly number[] => {
    buckets ??= byFirstLetter(terms);
    ids ??= new Map([...buckets.values()].flatMap((bucket) => bucket.map(({ term, id }) => [term, id])));
    const bucket = buckets.get(word.slice(0, 1)) ?? [];
    // A common word such as "trails" is not a misspelling of "trials".
    const similar = isWord(word) ? [] : findMisspelt(word, bucket);
    if (similar.length > 0) return similar;
    const swapped = isWord(word) ? [] : findSwapped(word, ids);
    if (swapped.length > 0) return swapped;
    if (word.length < MIN_REPAIRED) return [];
    const halves = splitWord(word, ids);
    if (halves.length > 0) return halves;
    return bucket
      .filter(({ term }) => term.length <= word.length + 4 && term.startsWith(word))
      .slice(0, MAX_REPAIRED)
      .map(({ id }) => id);
  };
  return (word) => {
    if (word.length < 3 || !/^\p{L}+$/u.test(word)) return [];
    let found = cache.get(word);
    if (found === undefined) {
      if (cache.size >= MAX_CACHED) cache.clear();
      cache.set(word, (found = find(word)));
    }
    return found;
  };
}

/**
 * Groups terms by their first letter and sorts each group by text. If the groups were sorted by number, the result would depend on earlier
 * catalogs.
 */
function byFirstLetter(
  terms: Iterable<readonly [term: string, id: number]>,
): ReadonlyMap<string, readonly Term[]> {
  const buckets = new Map<string, Term[]>();
  for (const [term, id] of terms) {
    const letter = term.slice(0, 1);
    const one = { term, id, letters: lettersOf(term) };
    const bucket = buckets.get(letter);
    if (bucket === undefined) buckets.set(letter, [one]);
    else bucket.push(one);
  }
  for (const bucket of buckets.values())
    bucket.sort((one, other) => (one.term < other.term ? -1 : one.term > other.term ? 1 : 0));
  return buckets;
}

function lettersOf(word: string): number {
  let letters = 0;
  for (let at = 0; at < word.length; at += 1) letters |= 1 << (word.charCodeAt(at) & 31);
  return letters;
}

/** Returns the terms that differ only by two swapped neighbours, even if these are the first letters ("lgos") or the word is very short ("ilst"). */
function findSwapped(word: string, ids: ReadonlyMap<string, number>): readonly number[] {
  const found: number[] = [];
  for (let at = 1; at < word.length; at += 1) {
    const id = ids.get(
      `${word.slice(0, at - 1)}${word.slice(at, at + 1)}${word.slice(at - 1, at)}${word.slice(at + 1)}`,
    );
    if (id !== undefined) found.push(id);
  }
  return found.slice(0, MAX_REPAIRED);
}

/** Splits a word into two known terms, such as `filesystem` if documents contain `file` and `system`; empty if that is impossible. */
function splitWord(word: string, ids: ReadonlyMap<string, number>): readonly number[] {
  for (let at = 3; at <= word.length - 3; at += 1) {
    const head = ids.get(word.slice(0, at));
    const tail = ids.get(word.slice(at));
    if (head !== undefined && tail !== undefined) return [head, tail];
  }
  return [];
}

/** Returns the terms within one edit of a word, or within two of a word with at least 8 letters; the closest first. */
function findMisspelt(word: string, bucket: readonly Term[]): readonly number[] {
  const bound = word.length >= 8 ? 2 : word.length >= 4 ? 1 : 0;
  if (bound === 0) return [];
  const letters = lettersOf(word);
  const found: { readonly id: number; readonly edits: number }[] = [];
  for (const { term, id, letters: others } of bucket) {
    if (Math.abs(term.length - word.length) > bound) continue;
    // Each edit removes at most one letter and adds at most one, so this skips most terms cheaply.
    if (bitsOf(letters & ~others) > bound || bitsOf(others & ~letters) > bound) continue;
    const edits = editsBetween(word, term, bound);
    if (edits <= bound) found.push({ id, edits });
  }
  // The sort is stable, so equal distances stay in alphabetical order.
  return found
    .sort((one, other) => one.edits - other.edits)
    .slice(0, MAX_REPAIRED)
    .map(({ id }) => id);
}

function bitsOf(mask: number): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count += 1;
  return count;
}

/**
 * Returns the number of insertions, deletions, replacements and swaps of neighbours between two words. If there are more than `bound`,
 * the result is some number above `bound`.
 */
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
    // No later cell can be lower than the lowest cell of a row.
    if (least > bound) return bound + 1;
    before = previous;
    previous = row;
  }
  return previous[b.length] ?? 0;
}
