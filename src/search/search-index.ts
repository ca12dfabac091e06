import type { ToolEntry } from '../model/entry.ts';
import { descriptionOf } from './analyse.ts';
import { documents } from './corpus.ts';
import type { Documents, Reusable, Source } from './corpus.ts';
import { exactNames } from './exact-names.ts';
import { documentRows, meanings, queryVector } from './meaning.ts';
import type { Alike, Rows } from './meaning.ts';
import type { Known, Query } from './query.ts';
import { rank } from './rank.ts';
import { repairer } from './repair.ts';
import { scratch } from './scratch.ts';
import { lexicon } from './synonyms.ts';
import { WEIGHTS } from './weights.ts';
import type { Weights } from './weights.ts';
import type { WordVectors } from './word-vectors.ts';

export interface Hit {
  readonly entry: ToolEntry;
  /** Falls along the hits; what it is relative to the first tells how much weaker a hit is. */
  readonly score: number;
  /** Words of the query that the tool or its server has, itself or in other words. */
  readonly matched: readonly string[];
}

export interface SearchOptions {
  readonly limit: number;
  /** Asked for each hit that would be taken; has no influence on the order. */
  readonly allow: (entry: ToolEntry) => boolean;
  /** Only tools of this upstream. */
  readonly server?: string;
  /** What is known in favour of a tool beforehand, from 0 to 1. */
  readonly prior?: (entry: ToolEntry) => number;
  /** Of an embedder instead of the word vectors, for `entries` in their order. */
  readonly likeness?: Alike;
}

export interface SearchIndex {
  /** All tools, in the order that a likeness has. */
  readonly entries: readonly ToolEntry[];
  /** What the next index can take over from this one. */
  readonly reusable: Reusable;
  readonly rows: Rows | undefined;
  /** How many tools had to be analysed for this index. */
  readonly analysed: number;
  search(query: string, options: SearchOptions): readonly Hit[];
}

export interface IndexOptions {
  /** An older index: what has not changed is taken over from it. */
  readonly previous?: SearchIndex;
  /** Without them only words count. */
  readonly vectors?: WordVectors | undefined;
  readonly weights?: Weights;
}

export function buildIndex(source: Source, options: IndexOptions = {}): SearchIndex {
  const steps = indexSteps(source, options);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** The same in many small steps; whoever takes them decides when. The source must not change meanwhile. */
export function* indexSteps(source: Source, options: IndexOptions = {}): Generator<void, SearchIndex> {
  const { weights = WEIGHTS, previous, vectors } = options;
  const built = yield* documents(source, weights, previous?.reusable);
  const { entries, corpus, parts, reusable, analysed } = built;
  const rows = vectors && (yield* documentRows(parts, { words: reusable.words, vectors }, previous?.rows));
  yield;
  const names = yield* exactNames(entries);
  const ranking = {
    entries,
    corpus,
    weights,
    names,
    known: knownOf(built, weights, vectors),
    likenessOf: vectors && rows ? likenessBy(built, rows, vectors) : () => undefined,
    details: {
      description: (document: number) => {
        const tool = parts[document]?.[0];
        return tool === undefined ? new Uint32Array() : descriptionOf(tool);
      },
      accepts: (document: number) => parts[document]?.[0].accepts ?? [],
    },
    scratch: scratch(entries.length, reusable.words.size, corpus.serverCount),
  };
  return { entries, reusable, rows, analysed, search: (text, how) => rank(text, how, ranking) };
}

function knownOf(
  { reusable: { words }, corpus }: Documents,
  weights: Weights,
  vectors: WordVectors | undefined,
): Known {
  const { rarity } = corpus.postings;
  const isUsed = (id: number): boolean => (rarity[id] ?? 0) > 0;
  function* terms(): Generator<readonly [string, number]> {
    for (let id = 0; id < rarity.length; id += 1) if (isUsed(id)) yield [words.termOf(id), id];
  }
  return {
    lexicon: lexicon(),
    weights,
    termOf(term) {
      const id = words.idOf(term);
      return id !== undefined && isUsed(id) ? id : undefined;
    },
    repair: repairer({ [Symbol.iterator]: terms }, (word) => vectors?.isCommon(word) === true),
  };
}

function likenessBy(
  { corpus, reusable: { words } }: Documents,
  { matrix }: Rows,
  vectors: WordVectors,
): (query: Query) => Alike | undefined {
  const { rarity, size } = corpus.postings;
  const unknown = 0.7 * Math.log(1 + size);
  const rarityOf = (term: string): number => (rarity[words.idOf(term) ?? -1] ?? 0) || unknown;
  const made = meanings(matrix, vectors.dimensions);
  return (query) => {
    const vector = queryVector(query, vectors, rarityOf);
    return vector && made.likeness(vector);
  };
}
