/** Words, and two that follow each other, as numbers. A closed one knows only what was added to it. */
export class Vocabulary {
  /** By number: `word`, or `word_other` for two. */
  readonly names: string[] = [];
  readonly #isOpen: boolean;
  readonly #words = new Map<string, number>();
  readonly #pairs = new Map<number, number>();

  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  /** The number of a name, which is new if need be. */
  add(name: string): number {
    const at = name.indexOf('_');
    if (at < 0) return this.#words.get(name) ?? this.#addWord(name);
    const [first, second] = [this.add(name.slice(0, at)), this.add(name.slice(at + 1))];
    return this.#pairs.get(keyOf(first, second)) ?? this.#addPair(first, second);
  }

  wordOf(word: string): number | undefined {
    return this.#words.get(word) ?? (this.#isOpen ? this.#addWord(word) : undefined);
  }

  pairOf(first: number, second: number): number | undefined {
    return this.#pairs.get(keyOf(first, second)) ?? (this.#isOpen ? this.#addPair(first, second) : undefined);
  }

  #addWord(word: string): number {
    this.#words.set(word, this.names.length);
    return this.names.push(word) - 1;
  }

  #addPair(first: number, second: number): number {
    this.#pairs.set(keyOf(first, second), this.names.length);
    return this.names.push(`${this.names[first] ?? ''}_${this.names[second] ?? ''}`) - 1;
  }
}

const MAX_WORDS = 2 ** 24;

function keyOf(first: number, second: number): number {
  return first * MAX_WORDS + second;
}
