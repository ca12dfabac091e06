import type { UpstreamName } from '../../core/ids.ts';
import type { Postings } from './postings.ts';
import type { Concept, Query } from './query.ts';
import type { ScratchBuffers } from './scratch-buffers.ts';
import { CLAUSE_SPREAD_FACTOR } from './ranking-weights.ts';
import type { RankingWeights } from './ranking-weights.ts';

/** The documents that match a concept, with the strength of each match; valid until the next search. */
export interface Evidence {
  readonly documents: Uint32Array;
  readonly values: Float32Array;
}

export interface FirstStageScores {
  /** The score of each document for the whole query and its best clause; 0 without a match. Not normalized. Valid until the next search. */
  readonly scores: Float64Array;
  /** The highest score, by which callers divide to get scores of at most 1. */
  readonly most: number;
  /** The evidence for each concept of the query. */
  readonly evidence: readonly Evidence[];
  /** The factor for scores of clauses; see `clauseSpread`. */
  readonly spread: number;
}

/** The data of all documents that scoring reads, in columns of numbers. A document is one tool. */
export interface Corpus {
  readonly postings: Postings;
  /** The terms of all names; those of document `d` begin at `nameOffsets[d]` and end before `nameOffsets[d + 1]`. */
  readonly names: Uint32Array;
  readonly nameOffsets: Uint32Array;
  /** The number of each document's server, as in `serverIds`. */
  readonly servers: Uint32Array;
  readonly serverCount: number;
  readonly serverIds: ReadonlyMap<UpstreamName, number>;
}

/** Scores all documents by the words of a query: first stage of the ranking. */
export function scoreAll(
  query: Query,
  corpus: Corpus,
  weights: RankingWeights,
  scratch: ScratchBuffers,
): FirstStageScores {
  const evidence = evidenceOf(query.concepts, corpus.postings, scratch);
  const touched = touchedBy(evidence, scratch);
  const context = { corpus, weights, evidence, concepts: query.concepts, touched, scratch };
  const all = query.concepts.map((_, at) => at);
  const { scores, clause: best } = scratch;
  scorePart(all, scores, context);
  const most = max(scores, touched);
  if (query.clauses.length === 0 || most === 0) return { scores, most, evidence, spread: 1 };
  best.fill(0);
  let clauseTops = 0;
  for (const clause of query.clauses) {
    const { part } = scratch;
    scorePart(clause, part, context);
    const top = max(part, touched);
    if (top === 0) continue;
    clauseTops += top;
    // Scales the best match of the clause to 1, or to less if the clause is weak compared with the whole query.
    const scale = Math.sqrt(Math.min(1, top / most)) / top;
    for (const document of touched) {
      const value = (part[document] ?? 0) * scale;
      if (value > (best[document] ?? 0)) best[document] = value;
    }
  }
  const spread = clauseSpread(most, clauseTops);
  for (const document of touched)
    scores[document] = (scores[document] ?? 0) / most + weights.clause * spread * (best[document] ?? 0);
  return { scores, most: max(scores, touched), evidence, spread };
}

/**
 * Returns how much the clauses of a request differ in the tools that they need: 0 if the best tool of the whole request is also the best
 * for each clause, at most 1.
 */
function clauseSpread(wholeTop: number, clauseTops: number): number {
  return Math.max(0, Math.min(1, CLAUSE_SPREAD_FACTOR * (1 - wholeTop / (clauseTops || 1))));
}

interface ScoringContext {
  readonly corpus: Corpus;
  readonly weights: RankingWeights;
  readonly evidence: readonly Evidence[];
  readonly concepts: readonly Concept[];
  /** Documents with any evidence, in ascending order. */
  readonly touched: Uint32Array;
  readonly scratch: ScratchBuffers;
}

/**
 * Returns the evidence for each concept. A word and its alternatives are one concept, so only the best match in a document counts, never
 * the sum.
 */
function evidenceOf(
  concepts: readonly Concept[],
  { offsets, documents, impacts, rarity }: Postings,
  scratch: ScratchBuffers,
): readonly Evidence[] {
  // The number of postings to read is the upper bound of the evidence.
  let postings = 0;
  for (const { alternatives } of concepts)
    for (const { term } of alternatives) postings += (offsets[term + 1] ?? 0) - (offsets[term] ?? 0);
  const buffers = scratch.evidence(postings);
  const { best } = scratch;
  let end = 0;
  return concepts.map(({ alternatives, weight, isKnown }) => {
    const begin = end;
    // An alternative counts at most as much as the word itself.
    const ceiling = isKnown ? (rarity[alternatives[0]?.term ?? 0] ?? 0) : Infinity;
    for (const alternative of alternatives) {
      const factor = Math.min(rarity[alternative.term] ?? 0, ceiling) * alternative.weight * weight;
      const last = offsets[alternative.term + 1] ?? 0;
      for (let at = offsets[alternative.term] ?? 0; at < last; at += 1) {
        const document = documents[at] ?? 0;
        const value = factor * (impacts[at] ?? 0);
        const previous = best[document] ?? 0;
        // A document enters the list with its first match; later matches only raise its value.
        if (previous === 0) {
          buffers.documents[end] = document;
          end += 1;
        }
        if (value > previous) best[document] = value;
      }
    }
    // Collects the best values and resets `best` for the next concept.
    for (let at = begin; at < end; at += 1) {
      const document = buffers.documents[at] ?? 0;
      buffers.values[at] = best[document] ?? 0;
      best[document] = 0;
    }
    return { documents: buffers.documents.subarray(begin, end), values: buffers.values.subarray(begin, end) };
  });
}

/** Returns the documents with any evidence, in ascending order. Marks the documents in the buffer `part`, which `scorePart` overwrites later. */
function touchedBy(evidence: readonly Evidence[], { touched, part }: ScratchBuffers): Uint32Array {
  part.fill(0);
  for (const { documents } of evidence) for (const document of documents) part[document] = 1;
  let count = 0;
  for (let document = 0; document < part.length; document += 1) {
    if (part[document] !== 1) continue;
    touched[count] = document;
    count += 1;
  }
  return touched.subarray(0, count);
}

/** Scores the documents for some of the concepts: the whole query or one clause. `cover` is all 0 before and after the call. */
function scorePart(part: readonly number[], scores: Float64Array, context: ScoringContext): void {
  const { evidence, concepts, corpus, weights, touched, scratch } = context;
  scores.fill(0);
  for (const concept of part) {
    const { documents, values } = evidence[concept] ?? NONE;
    for (let at = 0; at < documents.length; at += 1) {
      const document = documents[at] ?? 0;
      scores[document] = (scores[document] ?? 0) + (values[at] ?? 0);
    }
  }
  const { cover } = scratch;
  for (const concept of part) {
    for (const { term, weight } of concepts[concept]?.alternatives ?? [])
      if (weight > (cover[term] ?? 0)) cover[term] = weight;
  }
  addNameCover(scores, touched, { cover, corpus, gain: weights.nameCover });
  for (const concept of part) for (const { term } of concepts[concept]?.alternatives ?? []) cover[term] = 0;
  addServerPrior(scores, touched, { corpus, prior: weights.serverPrior, best: scratch.servers });
}

const NONE: Evidence = { documents: new Uint32Array(), values: new Float32Array() };

/** Raises scores by up to `gain`, in proportion to the share of the name (by rarity) that the query covers. */
function addNameCover(
  scores: Float64Array,
  touched: Uint32Array,
  { cover, corpus, gain }: { readonly cover: Float64Array; readonly corpus: Corpus; readonly gain: number },
): void {
  const { postings, names, nameOffsets } = corpus;
  for (const document of touched) {
    const score = scores[document] ?? 0;
    if (score === 0) continue;
    let covered = 0;
    let total = 0;
    const end = nameOffsets[document + 1] ?? 0;
    for (let at = nameOffsets[document] ?? 0; at < end; at += 1) {
      const term = names[at] ?? 0;
      const rarity = postings.rarity[term] ?? 0;
      total += rarity;
      covered += rarity * (cover[term] ?? 0);
    }
    if (covered > 0) scores[document] = score * (1 + (gain * covered) / total);
  }
}

/**
 * Adds a share of the server's best score to each of its matching tools: a server whose best tool matches well probably has the other
 * tools that a request needs.
 */
function addServerPrior(
  scores: Float64Array,
  touched: Uint32Array,
  { corpus, prior, best }: { readonly corpus: Corpus; readonly prior: number; readonly best: Float64Array },
): void {
  const { servers } = corpus;
  best.fill(0);
  for (const document of touched) {
    const server = servers[document] ?? 0;
    const score = scores[document] ?? 0;
    if (score > (best[server] ?? 0)) best[server] = score;
  }
  for (const document of touched) {
    const score = scores[document] ?? 0;
    if (score > 0) scores[document] = score + prior * (best[servers[document] ?? 0] ?? 0);
  }
}

function max(values: Float64Array, touched: Uint32Array): number {
  let most = 0;
  for (const document of touched) if ((values[document] ?? 0) > most) most = values[document] ?? 0;
  return most;
}
