import type { ToolEntry } from '../../core/entry.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { ExactNameIndex } from './exact-names.ts';
import { indicesOfHighest } from './indices-of-highest.ts';
import type { QuerySimilarity } from './semantic-index.ts';
import { readQuery } from './query.ts';
import type { QueryContext, Query } from './query.ts';
import { rescore } from './rescore.ts';
import type { CandidateDetails } from './rescore.ts';
import { scoreAll } from './score.ts';
import type { Corpus, Evidence } from './score.ts';
import type { ScratchBuffers } from './scratch-buffers.ts';
import type { SearchHit, IndexSearchOptions } from './search-index.ts';
import {
  CANDIDATE_SIMILARITY_WEIGHT,
  CERTAIN,
  EXACT_EXPOSED_NAME_BONUS,
  EXACT_NAME_BONUS,
  MIN_SCORE,
  RECENT_USE_BONUS,
} from './ranking-weights.ts';
import type { RankingWeights } from './ranking-weights.ts';

/** The data of an index that a search reads. */
export interface RankingContext {
  readonly entries: readonly ToolEntry[];
  readonly corpus: Corpus;
  readonly weights: RankingWeights;
  readonly names: ExactNameIndex;
  readonly queryContext: QueryContext;
  readonly similarityOf: (query: Query) => QuerySimilarity | undefined;
  readonly details: CandidateDetails;
  readonly scratch: ScratchBuffers;
}

/** Ranks the tools for a query in two stages: scores all tools by words, then rescores the best candidates. */
export function rankTools(
  text: string,
  { limit, isAllowed, server, prior, similarity: embedded }: IndexSearchOptions,
  { entries, corpus, weights, names, queryContext, similarityOf, details, scratch }: RankingContext,
): readonly SearchHit[] {
  const query = readQuery(text, queryContext);
  const { scores, most, evidence, spread } = scoreAll(query, corpus, weights, scratch);
  const top = most || 1;
  const similarity = embedded ?? similarityOf(query);
  const exact = names.find(text);
  const all = combineScores({ scores, top, similarity, exact, onlyServer: server }, corpus, scratch.all);
  const best = indicesOfHighest(all, weights.second.pool);
  const rescored = rescore(
    { documents: best, scores: best.map((document) => (scores[document] ?? 0) / top) },
    {
      query,
      evidence,
      similarities: similarity?.similarities,
      spread: query.clauses.length === 0 ? 1 : spread,
    },
    { corpus, details, weights: weights.second, scratch },
  );
  const final = best.map((document, at) => ({
    document,
    confidence: exact.has(document) ? CERTAIN : (rescored[at]?.confidence ?? 0),
    score:
      (rescored[at]?.score ?? 0) +
      exactNameBonus(exact.get(document)) +
      (prior === undefined ? 0 : RECENT_USE_BONUS * Math.min(1, prior(entryAt(entries, document)))),
  }));
  final.sort((one, other) => other.score - one.score || one.document - other.document);
  const taken = takeHits(withRemaining(final, all), { limit, isAllowed, entries });
  const matched = matchedWords(
    taken.map(({ document }) => document),
    { query, evidence, slots: scratch.slots },
  );
  return taken.map(({ entry, score, confidence }, at) => ({
    entry,
    score,
    confidence,
    matched: matched[at] ?? [],
  }));
}

/** Whether the query is the tool's exact name or contains it: only the bonus for exact names lifts a score this high. */
export function isExactMatch({ score }: SearchHit): boolean {
  return score > EXACT_NAME_BONUS / 2;
}

interface ScoredDocument {
  readonly document: number;
  readonly score: number;
  /** See `SearchHit`; 0 for a document outside the pool. */
  readonly confidence: number;
}

interface FirstStageInput {
  readonly scores: Float64Array;
  readonly top: number;
  readonly similarity: QuerySimilarity | undefined;
  readonly exact: ReadonlyMap<number, 'exposed' | 'original'>;
  /** The only upstream whose tools may be found; undefined for all. */
  readonly onlyServer: string | undefined;
}

/** Combines the first-stage scores, scaled to at most 1, with similarity and exact names; 0 means no hit. */
function combineScores(
  { scores, top, similarity, exact, onlyServer }: FirstStageInput,
  { servers, serverIds }: Corpus,
  all: Float64Array,
): Float64Array {
  // The cast is safe, because an unknown name is not in the map.
  const serverId = onlyServer === undefined ? undefined : (serverIds.get(onlyServer as UpstreamName) ?? -1);
  const isCandidate = (document: number): boolean => serverId === undefined || servers[document] === serverId;
  for (let document = 0; document < all.length; document += 1) {
    const lexical = scores[document] ?? 0;
    const meaning = similarity?.similarities[document] ?? 0;
    const isHit =
      isCandidate(document) &&
      (lexical > 0 || (similarity !== undefined && meaning >= similarity.hitThreshold));
    all[document] = isHit ? lexical / top + CANDIDATE_SIMILARITY_WEIGHT * meaning : 0;
  }
  for (const [document, kind] of exact)
    if (isCandidate(document)) all[document] = (all[document] ?? 0) + exactNameBonus(kind);
  return all;
}

function exactNameBonus(exact: 'exposed' | 'original' | undefined): number {
  return exact === undefined ? 0 : exact === 'exposed' ? EXACT_EXPOSED_NAME_BONUS : EXACT_NAME_BONUS;
}

/** Yields the rescored documents, then all others in the order of the first stage. The others are sorted only if they are needed. */
function* withRemaining(final: readonly ScoredDocument[], all: Float64Array): Generator<ScoredDocument> {
  yield* final;
  const taken = new Set(final.map(({ document }) => document));
  for (const document of indicesOfHighest(all, all.length)) {
    if (!taken.has(document)) yield { document, score: all[document] ?? 0, confidence: 0 };
  }
}

interface TakenHit extends ScoredDocument {
  readonly entry: ToolEntry;
}

/**
 * Takes the first allowed documents. The two stages have different scales, so each score is capped at the one
 * before it.
 */
function takeHits(
  order: Iterable<ScoredDocument>,
  {
    limit,
    isAllowed,
    entries,
  }: {
    readonly limit: number;
    readonly isAllowed: (entry: ToolEntry) => boolean;
    readonly entries: readonly ToolEntry[];
  },
): readonly TakenHit[] {
  const hits: TakenHit[] = [];
  let lowest = Infinity;
  for (const { document, score, confidence } of limit > 0 ? order : []) {
    lowest = Math.max(MIN_SCORE, Math.min(lowest, score));
    const entry = entryAt(entries, document);
    if (isAllowed(entry) && hits.push({ document, entry, score: lowest, confidence }) >= limit) break;
  }
  return hits;
}

/** Returns the words of the query that match each document. `slots` is a reused buffer that contains only -1 between calls. */
function matchedWords(
  documents: readonly number[],
  {
    query,
    evidence,
    slots,
  }: { readonly query: Query; readonly evidence: readonly Evidence[]; readonly slots: Int32Array },
): readonly (readonly string[])[] {
  const matched = documents.map(() => new Array<string>());
  documents.forEach((document, at) => (slots[document] = at));
  evidence.forEach((found, concept) => {
    const word = query.concepts[concept]?.word ?? '';
    for (const document of found.documents) {
      const slot = slots[document] ?? -1;
      if (slot >= 0) matched[slot]?.push(word);
    }
  });
  for (const document of documents) slots[document] = -1;
  return matched;
}

function entryAt(entries: readonly ToolEntry[], document: number): ToolEntry {
  const entry = entries[document];
  if (entry === undefined) throw new RangeError(`No tool has the number ${String(document)}.`);
  return entry;
}
