/** Numbers for terms, so that all comparing after analysis is between integers. */
export interface Vocabulary {
  readonly size: number;
  idOf(term: string): number | undefined;
  /** The number of a term, which gets one when it has none. */
  intern(term: string): number;
  termOf(id: number): string;
}

export function vocabulary(): Vocabulary {
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
