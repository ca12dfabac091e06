/** Maps terms to numbers, so everything after the analysis compares integers. */
export interface Vocabulary {
  readonly size: number;
  idOf(term: string): number | undefined;
  /** Returns the number of a term and assigns one if it has none. */
  intern(term: string): number;
  termOf(id: number): string;
}

export function createVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  const terms: string[] = [];
  return {
    get size() {
      return terms.length;
    },
    idOf: (term) => ids.get(term),
    intern(term) {
      const known = ids.get(term);
      if (known !== undefined) return known;
      ids.set(term, terms.length);
      return terms.push(term) - 1;
    },
    termOf: (id) => terms[id] ?? '',
  };
}
