import type { ToolEntry } from '../model/entry.ts';
import { fieldOf, pairsFrom, termOf } from './analyse.ts';
import type { Analysed } from './analyse.ts';
import type { Parts } from './postings.ts';
import type { Query } from './query.ts';
import { toolText } from './tool-text.ts';
import type { Vocabulary } from './vocabulary.ts';
import { FIELDS } from './weights.ts';
import type { WordVectors } from './word-vectors.ts';

/** Turns whole texts into vectors, such as a model behind an endpoint; all of one length, in the order of the texts. */
export interface Embedder {
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}

/** Below this, two texts have nothing to do with each other. */
const LEAST_COSINE = 0.25;
/** From here on a tool may be found although it shares no word with the query. */
const CLEAR_COSINE = 0.45;
const BATCH = 64;
const MAX_EMBEDDED = 1_000;

/** How like each document is to a query in meaning: 1 for the most like, 0 for the average and below. */
export type Likeness = Float32Array;

/** With what a likeness must be to count where no word speaks for the document. */
export interface Alike {
  readonly likeness: Likeness;
  readonly clear: number;
}

/** Which fields tell what a tool is about. */
const SHARE: Readonly<Partial<Record<(typeof FIELDS)[number], number>>> = {
  name: 2,
  title: 1.5,
  description: 1,
  parameters: 0.3,
  server: 1,
};
const SHARES = Float32Array.from(FIELDS, (field) => SHARE[field] ?? 0);

/** The unit vectors of all documents, one behind the other. */
export interface Rows {
  readonly parts: readonly Parts[];
  readonly matrix: Float32Array;
}

export interface Meanings {
  /** Valid until the next question. */
  likeness(vector: Float32Array): Alike;
}

/**
 * A document as the sum of its words. Which words are rare does not matter here: then a document has the same vector whatever
 * else there is, and those of an older index are taken over. In steps, each a small part of the work.
 */
export function* documentRows(
  parts: readonly Parts[],
  { words, vectors }: { readonly words: Vocabulary; readonly vectors: WordVectors },
  previous?: Rows,
): Generator<void, Rows> {
  const { dimensions } = vectors;
  const matrix = new Float32Array(parts.length * dimensions);
  const known = new Map(previous?.parts.map(([tool], at) => [tool, at]));
  for (const [at, [tool, server]] of parts.entries()) {
    const row = matrix.subarray(at * dimensions, (at + 1) * dimensions);
    const before = known.get(tool);
    if (before !== undefined && previous?.parts[before]?.[1] === server) {
      row.set(previous.matrix.subarray(before * dimensions, (before + 1) * dimensions));
    } else {
      for (const part of [tool, server]) addWords(row, part, words, vectors);
      toUnit(row);
      yield;
    }
  }
  return { parts, matrix };
}

function addWords(sum: Float32Array, part: Analysed, words: Vocabulary, vectors: WordVectors): void {
  const { data } = part;
  for (let pair = pairsFrom(part); pair < data.length; pair += 2) {
    const key = data[pair] ?? 0;
    const share = SHARES[fieldOf(key)] ?? 0;
    if (share > 0) vectors.addTo(sum, words.termOf(termOf(key)), share * Math.min(2, data[pair + 1] ?? 0));
  }
}

/** Of unit vectors, one behind the other; they are compared around their common mean. */
export function meanings(matrix: Float32Array, dimensions: number): Meanings {
  const count = dimensions === 0 ? 0 : matrix.length / dimensions;
  const mean = new Float32Array(dimensions);
  for (let at = 0; at < matrix.length; at += 1)
    mean[at % dimensions] = (mean[at % dimensions] ?? 0) + (matrix[at] ?? 0) / count;
  // What makes a row less the mean a unit vector, from |r - m|² = |r|² - 2 r·m + |m|²; a row of nothing has no direction.
  const scales = new Float32Array(count);
  dots(mean, matrix, scales);
  const squared = dot(mean, mean);
  for (let at = 0; at < count; at += 1) {
    const isNothing = matrix.subarray(at * dimensions, (at + 1) * dimensions).every((value) => value === 0);
    const rest = (isNothing ? 0 : 1) - 2 * (scales[at] ?? 0) + squared;
    scales[at] = rest > 1e-6 ? 1 / Math.sqrt(rest) : 0;
  }
  const likeness = new Float32Array(count);
  return {
    likeness(vector) {
      const wanted = toUnit(Float32Array.from(vector));
      for (let at = 0; at < dimensions; at += 1) wanted[at] = (wanted[at] ?? 0) - (mean[at] ?? 0);
      toUnit(wanted);
      dots(wanted, matrix, likeness);
      const shared = dot(wanted, mean);
      let sum = 0;
      let most = 0;
      for (let at = 0; at < count; at += 1) {
        const cosine = ((likeness[at] ?? 0) - shared) * (scales[at] ?? 0);
        likeness[at] = cosine;
        sum += cosine;
        if (cosine > most) most = cosine;
      }
      const average = sum / Math.max(1, count);
      const range = most - average;
      for (let at = 0; at < count; at += 1) {
        const cosine = likeness[at] ?? 0;
        likeness[at] = cosine < LEAST_COSINE || range <= 0 ? 0 : Math.max(0, (cosine - average) / range);
      }
      return { likeness, clear: range <= 0 ? Infinity : (CLEAR_COSINE - average) / range };
    },
  };
}

/** Vectors of tools by an embedder, in the order of the entries, some at a time. */
export async function embedTools(
  entries: readonly ToolEntry[],
  embedder: Embedder,
  options: { readonly signal: AbortSignal },
): Promise<Meanings> {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < entries.length; from += BATCH) {
    const texts = entries.slice(from, from + BATCH).map((entry) => {
      const { name, description } = toolText(entry);
      return `${entry.upstream} ${name}: ${description}`.slice(0, MAX_EMBEDDED);
    });
    vectors.push(...(await embedder.embed(texts, options)));
  }
  const dimensions = vectors[0]?.length ?? 0;
  const matrix = new Float32Array(vectors.length * dimensions);
  vectors.forEach((vector, at) => matrix.set(toUnit(Float32Array.from(vector)), at * dimensions));
  return meanings(matrix, dimensions);
}

/** A query as the sum of its words, the rare ones first; undefined if no word of it has a meaning that is known. */
export function queryVector(
  { concepts }: Query,
  vectors: WordVectors,
  rarityOf: (term: string) => number,
): Float32Array | undefined {
  const sum = new Float32Array(vectors.dimensions);
  let found = false;
  for (const { term, weight } of concepts) found = vectors.addTo(sum, term, weight * rarityOf(term)) || found;
  return found ? sum : undefined;
}

/**
 * The product of a vector with each row of a matrix. With four sums, since each addition would otherwise wait for the one
 * before, and in one loop, since a number that a function gives back is an object: this is most of a query's time.
 */
function dots(vector: Float32Array, matrix: Float32Array, into: Float32Array): void {
  const dimensions = vector.length;
  const even = dimensions - (dimensions % 4);
  for (let row = 0; row < into.length; row += 1) {
    const from = row * dimensions;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let at = 0; at < even; at += 4) {
      a += (vector[at] ?? 0) * (matrix[from + at] ?? 0);
      b += (vector[at + 1] ?? 0) * (matrix[from + at + 1] ?? 0);
      c += (vector[at + 2] ?? 0) * (matrix[from + at + 2] ?? 0);
      d += (vector[at + 3] ?? 0) * (matrix[from + at + 3] ?? 0);
    }
    for (let at = even; at < dimensions; at += 1) a += (vector[at] ?? 0) * (matrix[from + at] ?? 0);
    into[row] = a + b + c + d;
  }
}

function dot(vector: Float32Array, other: Float32Array): number {
  const product = new Float32Array(1);
  dots(vector, other, product);
  return product[0] ?? 0;
}

function toUnit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}
