import type { ToolEntry } from '../../core/entry.ts';
import { fieldOfKey, pairsOffset, termOfKey } from './analyse.ts';
import type { AnalysedText } from './analyse.ts';
import type { DocumentParts } from './postings.ts';
import type { Query } from './query.ts';
import { toolText } from './tool-text.ts';
import type { Vocabulary } from './vocabulary.ts';
import { CLEAR_COSINE, SEARCH_FIELDS, MIN_COSINE, VECTOR_FIELD_WEIGHTS } from './ranking-weights.ts';
import type { WordVectors } from './word-vectors.ts';

/**
 * Converts texts to vectors, for example with a model behind an endpoint. Returns one vector per text, in the same order and all of the
 * same length.
 */
export interface Embedder {
  embed(
    texts: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly Float32Array[]>;
}

/** The number of texts in one request to the embedder. */
const EMBEDDING_BATCH = 64;
const MAX_EMBEDDED_CHARS = 1_000;
/** A word that a field repeats counts at most this often. */
const MAX_WORD_COUNT = 2;
/** The squared distance from the mean below which a row has no meaningful direction; its similarity is 0. */
const MIN_SQUARED_DISTANCE = 1e-6;
const FIELD_WEIGHTS = Float32Array.from(SEARCH_FIELDS, (field) => VECTOR_FIELD_WEIGHTS[field] ?? 0);

/**
 * The semantic similarity of each document to a query: 1 for the most similar document, 0 for the average and below. Documents with a
 * cosine below `MIN_COSINE` also have 0.
 */
export type Similarities = Float32Array;

export interface QuerySimilarity {
  readonly similarities: Similarities;
  /** A document with at least this similarity is a hit even if no word matches. */
  readonly hitThreshold: number;
}

/** The unit vectors of all documents, concatenated in `matrix` in the order of `parts`. */
export interface DocumentVectors {
  readonly parts: readonly DocumentParts[];
  readonly matrix: Float32Array;
}

export interface SemanticIndex {
  /** Compares the documents with a query vector. The result is valid until the next call. */
  similarityTo(vector: Float32Array): QuerySimilarity;
}

/**
 * Builds the vector of each document as the sum of its words. The sum ignores how rare a word is, so the vector of a document does not
 * depend on other documents and can be reused from an older index. Yields after each vector that it computes.
 */
export function* buildDocumentVectors(
  parts: readonly DocumentParts[],
  { words, vectors }: { readonly words: Vocabulary; readonly vectors: WordVectors },
  previous?: DocumentVectors,
): Generator<void, DocumentVectors> {
  const { dimensions } = vectors;
  const matrix = new Float32Array(parts.length * dimensions);
  const previousRows = new Map(previous?.parts.map(([tool], row) => [tool, row]));
  for (const [row, [tool, server]] of parts.entries()) {
    const vector = rowOf(matrix, row, dimensions);
    const previousRow = previousRows.get(tool);
    if (previousRow !== undefined && previous?.parts[previousRow]?.[1] === server) {
      vector.set(rowOf(previous.matrix, previousRow, dimensions));
    } else {
      for (const part of [tool, server]) addWords(vector, part, words, vectors);
      normalize(vector);
      yield;
    }
  }
  return { parts, matrix };
}

function addWords(sum: Float32Array, part: AnalysedText, words: Vocabulary, vectors: WordVectors): void {
  const { data } = part;
  for (let pair = pairsOffset(part); pair < data.length; pair += 2) {
    const key = data[pair] ?? 0;
    const count = Math.min(MAX_WORD_COUNT, data[pair + 1] ?? 0);
    const weight = FIELD_WEIGHTS[fieldOfKey(key)] ?? 0;
    if (weight > 0) vectors.addTo(sum, words.termOf(termOfKey(key)), weight * count);
  }
}

/**
 * Builds an index of concatenated unit vectors. They are compared relative to their mean m, which removes the direction that all
 * documents share: the similarity of a query q and a row r is the cosine of the angle between q - m and r - m.
 */
export function buildSemanticIndex(matrix: Float32Array, dimensions: number): SemanticIndex {
  const count = dimensions === 0 ? 0 : matrix.length / dimensions;
  const mean = meanOfRows(matrix, dimensions, count);
  const inverseDistances = inverseDistancesToMean(matrix, mean, count);
  const similarities = new Float32Array(count);
  return {
    similarityTo(vector) {
      const direction = directionFromMean(vector, mean);
      multiplyRows(direction, matrix, similarities);
      const hitThreshold = rescaleProducts(similarities, dotProduct(direction, mean), inverseDistances);
      return { similarities, hitThreshold };
    },
  };
}

function meanOfRows(matrix: Float32Array, dimensions: number, count: number): Float32Array {
  const mean = new Float32Array(dimensions);
  for (let at = 0; at < matrix.length; at += 1)
    mean[at % dimensions] = (mean[at % dimensions] ?? 0) + (matrix[at] ?? 0) / count;
  return mean;
}

/** Returns 1 / |r - m| for each row r, from |r - m|² = |r|² - 2 r·m + |m|². |r| is 1, or 0 for a text without known words. */
function inverseDistancesToMean(matrix: Float32Array, mean: Float32Array, count: number): Float32Array {
  const products = new Float32Array(count);
  multiplyRows(mean, matrix, products);
  const squaredMean = dotProduct(mean, mean);
  return products.map((product, row) => {
    const isZero = rowOf(matrix, row, mean.length).every((value) => value === 0);
    const squaredDistance = (isZero ? 0 : 1) - 2 * product + squaredMean;
    return squaredDistance > MIN_SQUARED_DISTANCE ? 1 / Math.sqrt(squaredDistance) : 0;
  });
}

/** Returns the unit vector from the mean to a query's vector. */
function directionFromMean(vector: Float32Array, mean: Float32Array): Float32Array {
  const direction = normalize(Float32Array.from(vector));
  for (let at = 0; at < mean.length; at += 1) direction[at] = (direction[at] ?? 0) - (mean[at] ?? 0);
  return normalize(direction);
}

/**
 * Turns the products d·r of a query's direction d and each row r into similarities, in place. The cosine is
 * d·(r - m) / |r - m| = (d·r - d·m) / |r - m|. It is rescaled so that the average becomes 0 and the highest 1. Returns `CLEAR_COSINE` on
 * that scale.
 */
function rescaleProducts(
  products: Float32Array,
  meanProduct: number,
  inverseDistances: Float32Array,
): number {
  const cosines = products; // Both names refer to the same buffer, so a query allocates nothing per document.
  let sum = 0;
  let highest = 0;
  for (let row = 0; row < cosines.length; row += 1) {
    const cosine = ((products[row] ?? 0) - meanProduct) * (inverseDistances[row] ?? 0);
    cosines[row] = cosine;
    sum += cosine;
    if (cosine > highest) highest = cosine;
  }
  const average = sum / Math.max(1, cosines.length);
  const range = highest - average;
  for (let row = 0; row < cosines.length; row += 1) {
    const cosine = cosines[row] ?? 0;
    cosines[row] = cosine < MIN_COSINE || range <= 0 ? 0 : Math.max(0, (cosine - average) / range);
  }
  return range <= 0 ? Infinity : (CLEAR_COSINE - average) / range;
}

/** Embeds the tools in batches and builds their index, in the order of the entries. */
export async function embedTools(
  entries: readonly ToolEntry[],
  embedder: Embedder,
  options: { readonly signal: AbortSignal },
): Promise<SemanticIndex> {
  const vectors: Float32Array[] = [];
  for (let from = 0; from < entries.length; from += EMBEDDING_BATCH) {
    const texts = entries.slice(from, from + EMBEDDING_BATCH).map((entry) => {
      const { name, description } = toolText(entry);
      return `${entry.upstream} ${name}: ${description}`.slice(0, MAX_EMBEDDED_CHARS);
    });
    vectors.push(...(await embedder.embed(texts, options)));
  }
  const dimensions = vectors[0]?.length ?? 0;
  const matrix = new Float32Array(vectors.length * dimensions);
  vectors.forEach((vector, at) => matrix.set(normalize(Float32Array.from(vector)), at * dimensions));
  return buildSemanticIndex(matrix, dimensions);
}

/** Returns the vector of a query, the sum of its words weighted by rarity; undefined if no word has a vector. */
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
 * Computes the dot product of a vector and each row of a matrix, which takes most of a query's time. Four accumulators break the
 * dependency between additions. The dot product is inlined because a returned double would be boxed.
 */
function multiplyRows(vector: Float32Array, matrix: Float32Array, into: Float32Array): void {
  const dimensions = vector.length;
  const unrolledEnd = dimensions - (dimensions % 4);
  for (let row = 0; row < into.length; row += 1) {
    const from = row * dimensions;
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    for (let at = 0; at < unrolledEnd; at += 4) {
      a += (vector[at] ?? 0) * (matrix[from + at] ?? 0);
      b += (vector[at + 1] ?? 0) * (matrix[from + at + 1] ?? 0);
      c += (vector[at + 2] ?? 0) * (matrix[from + at + 2] ?? 0);
      d += (vector[at + 3] ?? 0) * (matrix[from + at + 3] ?? 0);
    }
    for (let at = unrolledEnd; at < dimensions; at += 1) a += (vector[at] ?? 0) * (matrix[from + at] ?? 0);
    into[row] = a + b + c + d;
  }
}

function rowOf(matrix: Float32Array, row: number, dimensions: number): Float32Array {
  return matrix.subarray(row * dimensions, (row + 1) * dimensions);
}

function dotProduct(vector: Float32Array, other: Float32Array): number {
  const product = new Float32Array(1);
  multiplyRows(vector, other, product);
  return product[0] ?? 0;
}

/** Scales a vector to length 1, in place. A zero vector stays unchanged. */
function normalize(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}
