import type { Similarities } from './semantic-index.ts';
import type { Concept, Query, ValueKinds } from './query.ts';
import type { Corpus, Evidence } from './score.ts';
import type { ScratchBuffers } from './scratch-buffers.ts';
import {
  DESCRIPTION_PAIR_WEIGHT,
  NAME_CONFIDENCE,
  fullMissingRarity,
  unknownWordRarity,
} from './ranking-weights.ts';
import type { SecondStageWeights } from './ranking-weights.ts';

/** The data about a candidate that the second stage reads in addition to the corpus. */
export interface CandidateDetails {
  /** Returns the terms of the description, in order. */
  description(document: number): Uint32Array;
  /** Returns the kinds of values that the tool accepts. */
  accepts(document: number): readonly (keyof ValueKinds)[];
}

export interface CandidatePool {
  /** Document numbers, best candidate first: by words, semantic similarity and exact names together. */
  readonly documents: readonly number[];
  /** The first-stage scores by words alone, at most 1, in the order of `documents`. */
  readonly scores: readonly number[];
}

/** A concept for which a term is evidence, with the weight of the term in it. */
interface ConceptUse {
  readonly concept: number;
  readonly weight: number;
}

interface RescoredCandidate {
  readonly score: number;
  /** See `SearchHit`. */
  readonly confidence: number;
}

/** Rescores the best candidates of the first stage, in the order of the pool. */
export function rescore(
  pool: CandidatePool,
  {
    query,
    evidence,
    similarities,
    spread,
  }: {
    readonly query: Query;
    readonly evidence: readonly Evidence[];
    readonly similarities: Similarities | undefined;
    /** The factor for ranks within a clause. */
    readonly spread: number;
  },
  {
    corpus,
    details,
    weights,
    scratch,
  }: {
    readonly corpus: Corpus;
    readonly details: CandidateDetails;
    readonly weights: SecondStageWeights;
    readonly scratch: ScratchBuffers;
  },
): readonly RescoredCandidate[] {
  const usesByTerm = conceptsByTerm(query.concepts);
  const worth = query.concepts.map((concept) => worthOf(concept, corpus.postings.rarity));
  const table = evidenceTable(pool.documents, evidence, scratch.slots);
  const clauses = query.clauses.length > 0 ? query.clauses : [query.concepts.map((_, at) => at)];
  const heaviest =
    Math.max(...clauses.map((clause) => sum(clause.map((concept) => worth[concept] ?? 0)))) || 1;
  const ranks = clauseRanks(clauses, table);
  const servers = serverScores(evidence, corpus, scratch.servers);
  const queryPairs = adjacentPairs(query.sequence, worth.length);
  // Semantic similarity counts only for the share of the query that matching words do not explain together.
  const { each, together } = explainedShares(table, query, worth, corpus);
  return pool.documents.map((document, at) => {
    const name = corpus.names.subarray(corpus.nameOffsets[document], corpus.nameOffsets[document + 1]);
    const neighbours = scorePairs(
      queryPairs,
      worth,
      [
        { terms: name, weight: 1 },
        { terms: details.description(document), weight: DESCRIPTION_PAIR_WEIGHT },
      ],
      usesByTerm,
    );
    const score =
      (pool.scores[at] ?? 0) -
      weights.missing * missingShare(name, usesByTerm, corpus) +
      weights.clauseRank * spread * (ranks[at] ?? 0) +
      (weights.pairs * neighbours) / heaviest +
      weights.server * (servers[corpus.servers[document] ?? 0] ?? 0) +
      weights.values * countAccepted(query.values, details.accepts(document)) +
      weights.meaning * (1 - together) * (similarities?.[document] ?? 0);
    const confidence = (each[at] ?? 0) + NAME_CONFIDENCE * coveredShare(name, usesByTerm, corpus);
    return { score, confidence };
  });
}

function conceptsByTerm(concepts: readonly Concept[]): ReadonlyMap<number, readonly ConceptUse[]> {
  const usesByTerm = new Map<number, ConceptUse[]>();
  concepts.forEach(({ alternatives }, concept) => {
    for (const { term, weight } of alternatives) {
      const list = usesByTerm.get(term);
      if (list === undefined) usesByTerm.set(term, [{ concept, weight }]);
      else list.push({ concept, weight });
    }
  });
  return usesByTerm;
}

/**
 * Returns the evidence that a document would have for a concept if the best term of the concept had an impact
 * of 1.
 */
function worthOf({ alternatives, weight, isKnown }: Concept, rarity: Float32Array): number {
  // As in the first stage, an alternative counts at most as much as the word itself.
  const ceiling = isKnown ? (rarity[alternatives[0]?.term ?? 0] ?? 0) : Infinity;
  return (
    weight * Math.max(0, ...alternatives.map((one) => Math.min(rarity[one.term] ?? 0, ceiling) * one.weight))
  );
}

/** Returns one row per candidate with its evidence for each concept. `slots` is all -1 before and after the call. */
function evidenceTable(
  documents: readonly number[],
  evidence: readonly Evidence[],
  slots: Int32Array,
): readonly Float32Array[] {
  const rows = documents.map(() => new Float32Array(evidence.length));
  documents.forEach((document, at) => (slots[document] = at));
  evidence.forEach((found, concept) => {
    for (let at = 0; at < found.documents.length; at += 1) {
      const slot = slots[found.documents[at] ?? 0] ?? -1;
      const row = slot < 0 ? undefined : rows[slot];
      if (row !== undefined) row[concept] = found.values[at] ?? 0;
    }
  });
  for (const document of documents) slots[document] = -1;
  return rows;
}

/**
 * Scores each candidate by its best rank in a clause: 1 for the first, 1/2 for the second, and so on. A clause whose best match is weaker
 * than that of the strongest clause counts less, by the square root of the ratio.
 */
function clauseRanks(
  clauses: readonly (readonly number[])[],
  table: readonly Float32Array[],
): readonly number[] {
  const scored = clauses.map((clause) => table.map((row) => sum(clause.map((concept) => row[concept] ?? 0))));
  const tops = scored.map((scores) => Math.max(0, ...scores));
  const top = Math.max(...tops) || 1;
  const ranks = table.map(() => 0);
  scored.forEach((scores, clause) => {
    const scale = Math.sqrt((tops[clause] ?? 0) / top);
    const order = [...scores.keys()].sort(
      (one, other) => (scores[other] ?? 0) - (scores[one] ?? 0) || one - other,
    );
    let rank = 0;
    order.forEach((candidate, at) => {
      const score = scores[candidate] ?? 0;
      // Equal scores share a rank; otherwise the alphabetical order would decide.
      if (score !== scores[order[rank] ?? 0]) rank = at;
      if (score > 0) ranks[candidate] = Math.max(ranks[candidate] ?? 0, scale / (1 + rank));
    });
  });
  return ranks;
}

/** Scores each server by how much of the query its tools cover together; the best server has 1. */
function serverScores(
  evidence: readonly Evidence[],
  { servers, serverCount }: Corpus,
  best: Float64Array,
): Float64Array {
  const total = new Float64Array(serverCount);
  for (const { documents, values } of evidence) {
    if (documents.length === 0) continue;
    best.fill(0);
    for (let at = 0; at < documents.length; at += 1) {
      const server = servers[documents[at] ?? 0] ?? 0;
      const value = values[at] ?? 0;
      if (value > (best[server] ?? 0)) best[server] = value;
    }
    for (let server = 0; server < serverCount; server += 1)
      total[server] = (total[server] ?? 0) + (best[server] ?? 0);
  }
  let most = 0;
  for (const score of total) if (score > most) most = score;
  return total.map((score) => score / (most || 1));
}

/**
 * Returns the share of the query that the words of each candidate explain, and the share that the candidates explain together. The latter is
 * the share of the best candidate or, if that is higher, of the best candidates of all clauses, because a request for several things needs
 * several tools.
 */
function explainedShares(
  table: readonly Float32Array[],
  { concepts, clauses }: Query,
  worth: readonly number[],
  { postings }: Corpus,
): { readonly each: readonly number[]; readonly together: number } {
  const unknownRarity = unknownWordRarity(postings.size);
  // The share of a concept in the query is proportional to its rarity.
  const sizes = concepts.map(({ isKnown, alternatives }) =>
    isKnown ? (postings.rarity[alternatives[0]?.term ?? 0] ?? 0) : unknownRarity,
  );
  const explained = (row: Float32Array, part: readonly number[]): number => {
    let share = 0;
    for (const at of part) {
      const full = worth[at] ?? 0;
      if (full > 0) share += (sizes[at] ?? 0) * Math.min(1, (row[at] ?? 0) / full);
    }
    return share;
  };
  const sizeOf = (part: readonly number[]): number => sum(part.map((at) => sizes[at] ?? 0)) || 1;
  const best = (part: readonly number[]): number =>
    table.reduce((most, row) => Math.max(most, explained(row, part)), 0);
  const all = concepts.map((_, at) => at);
  const parts = [all, ...clauses];
  const each = table.map((row) => Math.max(...parts.map((part) => explained(row, part) / sizeOf(part))));
  const whole = best(all) / sizeOf(all);
  if (clauses.length === 0) return { each, together: whole };
  return { each, together: Math.max(whole, sum(clauses.map(best)) / sum(clauses.map(sizeOf))) };
}

/** Returns the total rarity of the name's words that the query lacks, relative to `fullMissingRarity`; can exceed 1. */
function missingShare(
  name: Uint32Array,
  usesByTerm: ReadonlyMap<number, unknown>,
  { postings }: Corpus,
): number {
  let rare = 0;
  for (const term of name) if (!usesByTerm.has(term)) rare += postings.rarity[term] ?? 0;
  return rare / fullMissingRarity(postings.size);
}

/** Returns the share of the name, weighted by rarity, that the words of the query and their alternatives cover. */
function coveredShare(
  name: Uint32Array,
  usesByTerm: ReadonlyMap<number, unknown>,
  { postings }: Corpus,
): number {
  let covered = 0;
  let total = 0;
  for (const term of name) {
    const rarity = postings.rarity[term] ?? 0;
    total += rarity;
    if (usesByTerm.has(term)) covered += rarity;
  }
  return total === 0 ? 0 : covered / total;
}

/** Returns the pairs of adjacent concepts in the query, each encoded as one number: `first * concepts + second`. */
function adjacentPairs(sequence: readonly number[], concepts: number): ReadonlySet<number> {
  const queryPairs = new Set<number>();
  for (let at = 1; at < sequence.length; at += 1) {
    if (sequence[at - 1] !== sequence[at])
      queryPairs.add((sequence[at - 1] ?? 0) * concepts + (sequence[at] ?? 0));
  }
  return queryPairs;
}

/**
 * Scores the adjacent pairs of the query that are also adjacent in a text. Each pair counts once, with its best match, times the mean
 * worth of its two concepts.
 */
function scorePairs(
  queryPairs: ReadonlySet<number>,
  worth: readonly number[],
  texts: readonly { readonly terms: Uint32Array; readonly weight: number }[],
  usesByTerm: ReadonlyMap<number, readonly ConceptUse[]>,
): number {
  const found = new Map<number, number>();
  for (const { terms, weight } of texts) {
    for (let at = 1; at < terms.length; at += 1) {
      const firstUses = usesByTerm.get(terms[at - 1] ?? 0);
      const secondUses = firstUses === undefined ? undefined : usesByTerm.get(terms[at] ?? 0);
      if (firstUses === undefined || secondUses === undefined) continue;
      for (const before of firstUses) {
        for (const after of secondUses) {
          const key = before.concept * worth.length + after.concept;
          const value = weight * Math.min(before.weight, after.weight);
          if (queryPairs.has(key) && value > (found.get(key) ?? 0)) found.set(key, value);
        }
      }
    }
  }
  let total = 0;
  for (const [key, value] of found) {
    total += (value * ((worth[Math.floor(key / worth.length)] ?? 0) + (worth[key % worth.length] ?? 0))) / 2;
  }
  return total;
}

function countAccepted(values: ValueKinds, accepts: readonly (keyof ValueKinds)[]): number {
  let count = 0;
  for (const kind of accepts) if (values[kind]) count += 1;
  return count;
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
