/**
 * Assigns numbers to words and pairs of adjacent words. An open vocabulary, which the benchmark uses, also
 * adds every term that is looked up.
 */
export class TermVocabulary {
  /** Terms by number: `word`, or `word_other` for a pair. */
  readonly names: string[] = [];
  readonly #isOpen: boolean;
  readonly #words = new Map<string, number>();
  readonly #pairs = new Map<number, number>();

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  /** Returns the number of a term, and adds the term if it is unknown. */
  add(name: string): number {
    const separator = name.indexOf('_');
    if (separator < 0) return this.#words.get(name) ?? this.#addWord(name);
    const [first, second] = [this.add(name.slice(0, separator)), this.add(name.slice(separator + 1))];
    return this.#pairs.get(pairKey(first, second)) ?? this.#addPair(first, second);
  }

  wordId(word: string): number | undefined {
    return this.#words.get(word) ?? (this.#isOpen ? this.#addWord(word) : undefined);
  }

  pairId(first: number, second: number): number | undefined {
    return (
      this.#pairs.get(pairKey(first, second)) ?? (this.#isOpen ? this.#addPair(first, second) : undefined)
    );
  }

  #addWord(word: string): number {
    this.#words.set(word, this.names.length);
    return this.names.push(word) - 1;
  }

  #addPair(first: number, second: number): number {
    this.#pairs.set(pairKey(first, second), this.names.length);
    return this.names.push(`${this.names[first] ?? ''}_${this.names[second] ?? ''}`) - 1;
  }
}

/** Maximum number of terms; the key of a pair then has at most 48 bits and is an exact integer. */
const MAX_WORDS = 2 ** 24;

function pairKey(first: number, second: number): number {
  return first * MAX_WORDS + second;
}

/** Maps a word to the term of its group. A group contains words that are used alike. */
export type WordGroups = ReadonlyMap<string, number>;

/** Parses groups of the form `number word word …`, separated by semicolons or line breaks. The term of a group is `~number`. */
export function parseWordGroups(data: string, vocabulary: TermVocabulary): WordGroups {
  const groups = new Map<string, number>();
  for (const entry of data.trim().split(/[;\n]/)) {
    const [number = '', ...words] = entry.split(' ');
    const group = vocabulary.wordId(`~${number}`);
    if (group !== undefined) for (const word of words) groups.set(word, group);
  }
  return groups;
}
