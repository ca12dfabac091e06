import type { ToolEntry } from '../../core/entry.ts';
import { descriptionTerms } from './analyse.ts';
import { buildDocuments } from './corpus.ts';
import type { IndexedDocuments, ReusableAnalysis, IndexSource } from './corpus.ts';
import { buildExactNames } from './exact-names.ts';
import { buildDocumentVectors, buildSemanticIndex, queryVector } from './semantic-index.ts';
import type { QuerySimilarity, DocumentVectors } from './semantic-index.ts';
import type { QueryContext, Query } from './query.ts';
import { rankTools } from './rank-tools.ts';
import { createTermRepair } from './term-repair.ts';
import { createScratchBuffers } from './scratch-buffers.ts';
import { buildLexicon } from './synonyms.ts';
import { createTranslator } from './translations.ts';
import { DEFAULT_RANKING_WEIGHTS, unknownWordRarity } from './ranking-weights.ts';
import type { RankingWeights } from './ranking-weights.ts';
import type { WordVectors } from './word-vectors.ts';

export interface SearchHit {
  readonly entry: ToolEntry;
  /** Never increases from one hit to the next; only the ratio to the first hit is meaningful. */
  readonly score: number;
  /**
   * How clearly the tool does what the query asks, from 0 to 1.4: the share of the query, or of one of its clauses, that the words of the
   * tool explain, plus 0.4 times the share of its name that the query covers. Does not depend on other hits.
   */
  readonly confidence: number;
  /** Words of the query that match the tool or its server, directly or through a synonym. */
  readonly matched: readonly string[];
}

export interface IndexSearchOptions {
  readonly limit: number;
  /** Returns false for a tool that must not be found. Called for each hit, in order. */
  readonly isAllowed: (entry: ToolEntry) => boolean;
  /** Restricts the search to the tools of this upstream. */
  readonly server?: string | undefined;
  /** Returns how recently a tool was used, from 0 to 1. */
  readonly prior?: ((entry: ToolEntry) => number) | undefined;
  /** The similarity from an embedder instead of the word vectors, in the order of `entries`. */
  readonly similarity?: QuerySimilarity;
}

export interface SearchIndex {
  /** All tools, in the order of documents and of the similarities that `search` takes. */
  readonly entries: readonly ToolEntry[];
  /** The analysis that the next index can reuse. */
  readonly reusable: ReusableAnalysis;
  /** The vectors that the next index can reuse; undefined without word vectors. */
  readonly rows: DocumentVectors | undefined;
  /** The number of tools that were analysed for this index. */
  readonly analysed: number;
  search(query: string, options: IndexSearchOptions): readonly SearchHit[];
}

export interface IndexOptions {
  /** An older index, from which unchanged tools are reused. */
  readonly previous?: SearchIndex | undefined;
  /** Without vectors, only matching words count. */
  readonly vectors?: WordVectors | undefined;
  readonly weights?: RankingWeights;
}

/** Builds the index at once. */
export function buildIndex(source: IndexSource, options: IndexOptions = {}): SearchIndex {
  const steps = indexSteps(source, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Builds the index in many small steps, so other work can run in between. The source must not change meanwhile. */
export function* indexSteps(source: IndexSource, options: IndexOptions = {}): Generator<void, SearchIndex> {
  const { weights = DEFAULT_RANKING_WEIGHTS, previous, vectors } = options;
  const indexed = yield* buildDocuments(source, weights, previous?.reusable);
  const { entries, corpus, parts, reusable, analysed } = indexed;
  const rows =
    vectors && (yield* buildDocumentVectors(parts, { words: reusable.words, vectors }, previous?.rows));
  yield;
  const names = yield* buildExactNames(entries);
  const ranking = {
    entries,
    corpus,
    weights,
    names,
    queryContext: queryContextOf(indexed, weights, vectors),
    similarityOf: vectors && rows ? similarityFunction(indexed, rows, vectors) : () => undefined,
    details: {
      description: (document: number) => {
        const tool = parts[document]?.[0];
        return tool === undefined ? new Uint32Array() : descriptionTerms(tool);
      },
      accepts: (document: number) => parts[document]?.[0].valueKinds ?? [],
    },
    scratch: createScratchBuffers(entries.length, reusable.words.size, corpus.serverCount),
  };
  return {
    entries,
    reusable,
    rows,
    analysed,
    search: (text, searchOptions) => rankTools(text, searchOptions, ranking),
  };
}

function queryContextOf(
  { reusable: { words }, corpus }: IndexedDocuments,
  weights: RankingWeights,
  vectors: WordVectors | undefined,
): QueryContext {
  const { rarity } = corpus.postings;
  // The vocabulary may contain words of removed tools, which no document has.
  const isUsed = (id: number): boolean => (rarity[id] ?? 0) > 0;
  function* terms(): Generator<readonly [string, number]> {
    for (let id = 0; id < rarity.length; id += 1) if (isUsed(id)) yield [words.termOf(id), id];
  }
  return {
    lexicon: buildLexicon(),
    translator: createTranslator(),
    weights,
    termOf(term) {
      const id = words.idOf(term);
      return id !== undefined && isUsed(id) ? id : undefined;
    },
    repair: createTermRepair({ [Symbol.iterator]: terms }, (word) => vectors?.isCommon(word) === true),
  };
}

function similarityFunction(
  { corpus, reusable: { words } }: IndexedDocuments,
  { matrix }: DocumentVectors,
  vectors: WordVectors,
): (query: Query) => QuerySimilarity | undefined {
  const { rarity, size } = corpus.postings;
  const unknownRarity = unknownWordRarity(size);
  const rarityOf = (term: string): number => (rarity[words.idOf(term) ?? -1] ?? 0) || unknownRarity;
  const semanticIndex = buildSemanticIndex(matrix, vectors.dimensions);
  return (query) => {
    const vector = queryVector(query, vectors, rarityOf);
    return vector && semanticIndex.similarityTo(vector);
  };
}
