/** Meanings of single terms, as vectors of small whole numbers; only their directions count. */
export interface WordVectors {
  readonly dimensions: number;
  /** Adds the unit vector of a term, times a factor, to a sum; false for a term without one. */
  addTo(sum: Float32Array, term: string, factor: number): boolean;
  /** Whether it is one of the words that everybody uses, and so hardly a typing error. */
  isCommon(term: string): boolean;
}

/** Terms are in the order of their frequency, at first. */
const COMMON = 10_000;

/**
 * Reads what `bench/retrieval/make-vectors.mjs` wrote: the length of a head as 32 bits, the head as JSON with the
 * number of dimensions and the terms, then one signed byte for each dimension of each term.
 */
export function wordVectors(bytes: Uint8Array): WordVectors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headLength = view.getUint32(0, true);
  const head: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headLength)));
  const { dimensions, terms } = readHead(head);
  const places = new Map(terms.map((term, at) => [term, at]));
  const values = new Int8Array(bytes.buffer, bytes.byteOffset + 4 + headLength, terms.length * dimensions);
  /** What makes each vector a unit vector, once it was asked for. */
  const scales = new Float32Array(terms.length);
  const scaleOf = (place: number): number => {
    const known = scales[place] ?? 0;
    if (known !== 0) return known;
    let squares = 0;
    for (let at = place * dimensions; at < (place + 1) * dimensions; at += 1)
      squares += (values[at] ?? 0) ** 2;
    scales[place] = 1 / Math.sqrt(squares || 1);
    return scales[place] ?? 0;
  };
  return {
    dimensions,
    isCommon: (term) => (places.get(term) ?? Infinity) < COMMON,
    addTo(sum, term, factor) {
      const place = places.get(term);
      if (place === undefined) return false;
      const from = place * dimensions;
      const scale = factor * scaleOf(place);
      for (let at = 0; at < dimensions; at += 1) sum[at] = (sum[at] ?? 0) + scale * (values[from + at] ?? 0);
      return true;
    },
  };
}

function readHead(head: unknown): { readonly dimensions: number; readonly terms: readonly string[] } {
  if (typeof head === 'object' && head !== null && 'dimensions' in head && 'terms' in head) {
    const { dimensions, terms } = head;
    if (typeof dimensions === 'number' && typeof terms === 'string')
      return { dimensions, terms: terms.split(' ') };
  }
  throw new TypeError('The file of word vectors has no valid head.');
}
