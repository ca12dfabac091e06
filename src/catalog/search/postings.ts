import { fieldOfKey, fieldLength, pairsOffset, termOfKey } from './analyse.ts';
import type { AnalysedText } from './analyse.ts';
import { SEARCH_FIELDS } from './ranking-weights.ts';
import type { RankingWeights } from './ranking-weights.ts';

/** An inverted index: the documents that contain each term, with the weight of the term, as columns of numbers grouped by term. */
export interface Postings {
  /** The number of documents. */
  readonly size: number;
  /** The start of each term's documents; they end where those of the next term begin. */
  readonly offsets: Uint32Array;
  readonly documents: Uint32Array;
  /** The saturated weight of the term in the document, without its rarity. */
  readonly impacts: Float32Array;
  /** The inverse document frequency of each term; 0 for a term that no document contains. */
  readonly rarity: Float32Array;
}

/** A document consists of the texts of a tool and those of its server. */
export type DocumentParts = readonly [tool: AnalysedText, server: AnalysedText];

/** Builds the postings in small steps. Terms are weighted with BM25F: BM25 with a weight and a length normalisation per field. */
export function* buildPostings(
  documents: readonly DocumentParts[],
  terms: number,
  weights: RankingWeights,
): Generator<void, Postings> {
  const averages = averageLengths(documents);
  const seenIn = new Int32Array(terms).fill(-1);
  const offsets = new Uint32Array(terms + 1);
  for (const [at, parts] of documents.entries()) {
    countTerms(parts, at, { seenIn, offsets });
    yield;
  }
  // So far, `offsets[term + 1]` is the number of documents with the term. The sums below turn the counts into
  // offsets.
  const rarity = rarities(offsets, documents.length);
  for (let term = 0; term < terms; term += 1)
    offsets[term + 1] = (offsets[term + 1] ?? 0) + (offsets[term] ?? 0);
  const ids = new Uint32Array(offsets[terms] ?? 0);
  const impacts = new Float32Array(ids.length);
  // The position of the next posting of each term.
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

/** Counts a document once for each of its terms. `seenIn` holds the last document that was counted for a term. */
function countTerms(
  parts: DocumentParts,
  at: number,
  { seenIn, offsets }: { readonly seenIn: Int32Array; readonly offsets: Uint32Array },
): void {
  for (const part of parts) {
    const { data } = part;
    for (let pair = pairsOffset(part); pair < data.length; pair += 2) {
      const term = termOfKey(data[pair] ?? 0);
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

function addImpacts(parts: DocumentParts, at: number, { seenIn, next, ids, impacts, norms }: Columns): void {
  for (const part of parts) {
    const { data } = part;
    for (let pair = pairsOffset(part); pair < data.length; pair += 2) {
      const key = data[pair] ?? 0;
      const term = termOfKey(key);
      if (seenIn[term] !== at) {
        seenIn[term] = at;
        ids[next[term] ?? 0] = at;
        next[term] = (next[term] ?? 0) + 1;
      }
      // A term can occur in several fields of a document; all of them add to the same posting.
      const place = (next[term] ?? 0) - 1;
      impacts[place] = (impacts[place] ?? 0) + (data[pair + 1] ?? 0) * (norms[fieldOfKey(key)] ?? 0);
    }
  }
}

function averageLengths(documents: readonly DocumentParts[]): Float64Array {
  const sums = new Float64Array(SEARCH_FIELDS.length);
  for (const parts of documents) {
    for (const part of parts) {
      for (let field = 0; field < sums.length; field += 1)
        sums[field] = (sums[field] ?? 0) + fieldLength(part, field);
    }
  }
  return sums.map((sum) => sum / Math.max(1, documents.length));
}

/** Returns the weight of one occurrence in each field: less in a field that is longer than the average. */
function normsOf(parts: DocumentParts, averages: Float64Array, weights: RankingWeights): Float64Array {
  const norms = new Float64Array(SEARCH_FIELDS.length);
  weights.fields.forEach(({ weight, norm }, field) => {
    const length = fieldLength(parts[0], field) + fieldLength(parts[1], field);
    norms[field] = weight / (1 - norm + (norm * length) / (averages[field] || 1));
  });
  return norms;
}

/** Returns the inverse document frequency of BM25 for each term. */
function rarities(counts: Uint32Array, documents: number): Float32Array {
  const rarity = new Float32Array(counts.length - 1);
  for (let term = 0; term < rarity.length; term += 1) {
    const count = counts[term + 1] ?? 0;
    rarity[term] = count === 0 ? 0 : Math.log(1 + (documents - count + 0.5) / (count + 0.5));
  }
  return rarity;
}
