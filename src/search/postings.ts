import { fieldOf, lengthOf, pairsFrom, termOf } from './analyse.ts';
import type { Analysed } from './analyse.ts';
import { FIELDS } from './weights.ts';
import type { Weights } from './weights.ts';

/** Which documents have a term, and how much it says about them: columns of numbers, cut by term. */
export interface Postings {
  readonly size: number;
  /** Where the documents of a term begin; they end where those of the next begin. */
  readonly offsets: Uint32Array;
  readonly documents: Uint32Array;
  /** Saturated weight of the term in the document, without its rarity. */
  readonly impacts: Float32Array;
  readonly rarity: Float32Array;
}

/** Each document is what a tool says and what its server says. */
export type Parts = readonly [tool: Analysed, server: Analysed];

/** In steps, each a small part of the work. */
export function* postings(
  documents: readonly Parts[],
  terms: number,
  weights: Weights,
): Generator<void, Postings> {
  const averages = averageLengths(documents);
  const seenIn = new Int32Array(terms).fill(-1);
  const offsets = new Uint32Array(terms + 1);
  for (const [at, parts] of documents.entries()) {
    countTerms(parts, at, { seenIn, offsets });
    yield;
  }
  const rarity = rarities(offsets, documents.length);
  for (let term = 0; term < terms; term += 1)
    offsets[term + 1] = (offsets[term + 1] ?? 0) + (offsets[term] ?? 0);
  const ids = new Uint32Array(offsets[terms] ?? 0);
  const impacts = new Float32Array(ids.length);
  const next = offsets.slice();
  seenIn.fill(-1);
  for (const [at, parts] of documents.entries()) {
    const norms = normsOf(parts, averages, weights);
    addImpacts(parts, at, { seenIn, next, ids, impacts, norms });
    yield;
  }
  const k = weights.saturation;
  for (let at = 0; at < impacts.length; at += 1) {
    const impact = impacts[at] ?? 0;
    impacts[at] = (impact * (k + 1)) / (impact + k);
  }
  return { size: documents.length, offsets, documents: ids, impacts, rarity };
}

function countTerms(
  parts: Parts,
  at: number,
  { seenIn, offsets }: { readonly seenIn: Int32Array; readonly offsets: Uint32Array },
): void {
  for (const part of parts) {
    const { data } = part;
    for (let pair = pairsFrom(part); pair < data.length; pair += 2) {
      const term = termOf(data[pair] ?? 0);
      if (seenIn[term] === at) continue;
      seenIn[term] = at;
      offsets[term + 1] = (offsets[term + 1] ?? 0) + 1;
    }
  }
}

interface Columns {
  readonly seenIn: Int32Array;
  readonly next: Uint32Array;
  readonly ids: Uint32Array;
  readonly impacts: Float32Array;
  readonly norms: Float64Array;
}

function addImpacts(parts: Parts, at: number, { seenIn, next, ids, impacts, norms }: Columns): void {
  for (const part of parts) {
    const { data } = part;
    for (let pair = pairsFrom(part); pair < data.length; pair += 2) {
      const key = data[pair] ?? 0;
      const term = termOf(key);
      if (seenIn[term] !== at) {
        seenIn[term] = at;
        ids[next[term] ?? 0] = at;
        next[term] = (next[term] ?? 0) + 1;
      }
      const place = (next[term] ?? 0) - 1;
      impacts[place] = (impacts[place] ?? 0) + (data[pair + 1] ?? 0) * (norms[fieldOf(key)] ?? 0);
    }
  }
}

function averageLengths(documents: readonly Parts[]): Float64Array {
  const sums = new Float64Array(FIELDS.length);
  for (const parts of documents) {
    for (const part of parts) {
      for (let field = 0; field < sums.length; field += 1)
        sums[field] = (sums[field] ?? 0) + lengthOf(part, field);
    }
  }
  return sums.map((sum) => sum / Math.max(1, documents.length));
}

function normsOf(parts: Parts, averages: Float64Array, weights: Weights): Float64Array {
  const norms = new Float64Array(FIELDS.length);
  weights.fields.forEach(({ weight, norm }, field) => {
    const length = lengthOf(parts[0], field) + lengthOf(parts[1], field);
    norms[field] = weight / (1 - norm + (norm * length) / (averages[field] || 1));
  });
  return norms;
}

function rarities(counts: Uint32Array, documents: number): Float32Array {
  const rarity = new Float32Array(counts.length - 1);
  for (let term = 0; term < rarity.length; term += 1) {
    const count = counts[term + 1] ?? 0;
    rarity[term] = count === 0 ? 0 : Math.log(1 + (documents - count + 0.5) / (count + 0.5));
  }
  return rarity;
}
