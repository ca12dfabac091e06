/** Semantic vectors of single terms; only their directions matter. */
export interface WordVectors {
  readonly dimensions: number;
  /** Adds the unit vector of a term, multiplied by a factor, to a sum; returns false for a term without a vector. */
  addTo(sum: Float32Array, term: string, factor: number): boolean;
  /** Whether a term is a common word, which is unlikely to be a misspelling. */
  isCommon(term: string): boolean;
}

/** The file begins with the most frequent terms; this many of them count as common. */
const COMMON_TERMS = 10_000;

/**
 * Reads the file that `bench/search/make-vectors.mjs` writes: the length of the header as a little-endian 32-bit integer, the header as
 * JSON with the number of dimensions and the terms, then one signed byte for each dimension of each term.
 */
export function readWordVectors(bytes: Uint8Array): WordVectors {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerLength = view.getUint32(0, true);
  const header: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + headerLength)));
  const { dimensions, terms } = parseHeader(header);
  const indices = new Map(terms.map((term, at) => [term, at]));
  const values = new Int8Array(bytes.buffer, bytes.byteOffset + 4 + headerLength, terms.length * dimensions);
  /** The factor that makes each vector a unit vector, computed on first use. */
  const scales = new Float32Array(terms.length);
  const scaleOf = (index: number): number => {
    const known = scales[index] ?? 0;
    if (known !== 0) return known;
    let squares = 0;
    for (let at = index * dimensions; at < (index + 1) * dimensions; at += 1)
      squares += (values[at] ?? 0) ** 2;
    scales[index] = 1 / Math.sqrt(squares || 1);
    return scales[index] ?? 0;
  };
  return {
    dimensions,
    isCommon: (term) => (indices.get(term) ?? Infinity) < COMMON_TERMS,
    addTo(sum, term, factor) {
      const index = indices.get(term);
      if (index === undefined) return false;
      const from = index * dimensions;
      const scale = factor * scaleOf(index);
      for (let at = 0; at < dimensions; at += 1) sum[at] = (sum[at] ?? 0) + scale * (values[from + at] ?? 0);
      return true;
    },
  };
}

function parseHeader(header: unknown): { readonly dimensions: number; readonly terms: readonly string[] } {
  if (typeof header === 'object' && header !== null && 'dimensions' in header && 'terms' in header) {
    const { dimensions, terms } = header;
    if (typeof dimensions === 'number' && typeof terms === 'string')
      return { dimensions, terms: terms.split(' ') };
  }
  throw new TypeError('The file of word vectors has no valid header.');
}
