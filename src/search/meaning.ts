import type { ToolEntry } from '../model/entry.ts';
import type { Analysed } from './analyse.ts';
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
const BATCH = 64;
const MAX_EMBEDDED = 1_000;

/** How like each document is to a query in meaning: 1 for the most like, 0 for the average and below. */
export type Likeness = Float32Array;

/** Which fields tell what a tool is about. */
const SHARE: Readonly<Partial<Record<(typeof FIELDS)[number], number>>> = {
  name: 2,
  title: 1.5,
  description: 1,
  parameters: 0.3,
  server: 1,
};

/** One unit vector for each document, around their common mean. */
export interface Meanings {
  likeness(vector: Float32Array): Likeness;
}

export function meanings(vectors: readonly Float32Array[]): Meanings {
  const dimensions = vectors[0]?.length ?? 0;
  const mean = new Float32Array(dimensions);
  const units = vectors.map((vector) => unit(Float32Array.from(vector)));
  for (const vector of units) add(mean, vector, 1 / units.length);
  const matrix = new Float32Array(units.length * dimensions);
  units.forEach((vector, at) => matrix.set(centred(vector, mean), at * dimensions));
  return {
    likeness(vector) {
      const wanted = centred(unit(Float32Array.from(vector)), mean);
      const cosines = new Float32Array(units.length);
      let sum = 0;
      let most = 0;
      for (let document = 0; document < cosines.length; document += 1) {
        const cosine = dot(wanted, matrix, document * dimensions);
        cosines[document] = cosine;
        sum += cosine;
        if (cosine > most) most = cosine;
      }
      const average = sum / Math.max(1, cosines.length);
      const range = most - average;
      return cosines.map((cosine) =>
        cosine < LEAST_COSINE || range <= 0 ? 0 : Math.max(0, (cosine - average) / range),
      );
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
  return meanings(vectors);
}

/** A document as the sum of its words, the rare ones first. */
export function documentVector(
  parts: readonly Analysed[],
  rarity: Float32Array,
  { words, vectors }: { readonly words: Vocabulary; readonly vectors: WordVectors },
): Float32Array {
  const sum = new Float32Array(vectors.dimensions);
  for (const { terms, fields, counts } of parts) {
    for (let at = 0; at < terms.length; at += 1) {
      const share = SHARE[FIELDS[fields[at] ?? 0] ?? 'enums'] ?? 0;
      const term = terms[at] ?? 0;
      if (share > 0)
        vectors.addTo(sum, words.termOf(term), share * (rarity[term] ?? 0) * Math.min(2, counts[at] ?? 0));
    }
  }
  return sum;
}

/** The same for a query; undefined if no word of it has a meaning that is known. */
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

/** With four sums, since each addition would otherwise wait for the one before; this loop is most of a query's time. */
function dot(vector: Float32Array, matrix: Float32Array, from: number): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  let at = 0;
  for (; at + 3 < vector.length; at += 4) {
    a += (vector[at] ?? 0) * (matrix[from + at] ?? 0);
    b += (vector[at + 1] ?? 0) * (matrix[from + at + 1] ?? 0);
    c += (vector[at + 2] ?? 0) * (matrix[from + at + 2] ?? 0);
    d += (vector[at + 3] ?? 0) * (matrix[from + at + 3] ?? 0);
  }
  for (; at < vector.length; at += 1) a += (vector[at] ?? 0) * (matrix[from + at] ?? 0);
  return a + b + c + d;
}

function centred(vector: Float32Array, mean: Float32Array): Float32Array {
  return unit(vector.map((value, at) => value - (mean[at] ?? 0)));
}

function unit(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const length = Math.sqrt(squares) || 1;
  return vector.map((value) => value / length);
}

function add(sum: Float32Array, vector: Float32Array, factor: number): void {
  for (let at = 0; at < sum.length; at += 1) sum[at] = (sum[at] ?? 0) + factor * (vector[at] ?? 0);
}
