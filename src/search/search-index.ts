import type { ToolEntry } from '../model/entry.ts';
import { documents } from './corpus.ts';
import type { Documents, Reusable, Source } from './corpus.ts';
import { exactNames } from './exact-names.ts';
import { highest } from './highest.ts';
import { documentVector, meanings, queryVector } from './meaning.ts';
import type { Likeness, Meanings } from './meaning.ts';
import { readQuery } from './query.ts';
import type { Known, Query } from './query.ts';
import { repairer } from './repair.ts';
import { rescore } from './rescore.ts';
import type { Details } from './rescore.ts';
import { scoreAll } from './score.ts';
import type { Evidence } from './score.ts';
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
  readonly likeness?: Likeness;
}

export interface SearchIndex {
  /** All tools, in the order that a likeness has. */
  readonly entries: readonly ToolEntry[];
  readonly reusable: Reusable;
  /** How many tools had to be analysed for this index. */
  readonly analysed: number;
  search(query: string, options: SearchOptions): readonly Hit[];
}

export interface IndexOptions {
  /** An older index: what has not changed is taken over from it. */
  readonly previous?: SearchIndex;
  /** The word vectors, once they are loaded. */
  readonly vectors?: () => WordVectors | undefined;
  readonly weights?: Weights;
}

const PRIOR = 0.1;
/** What likeness of meaning counts when the candidates are gathered. */
const GATHER_BY_MEANING = 0.15;
const LEAST = 1e-6;

export function buildIndex(source: Source, options: IndexOptions = {}): SearchIndex {
  const weights = options.weights ?? WEIGHTS;
  const built = documents(source, weights, options.previous?.reusable);
  const { entries, corpus, parts, reusable, analysed } = built;
  const known = knownOf(built, weights);
  const names = exactNames(entries);
  const likenessOf = likenessBy(built, options.vectors);
  const details: Details = {
    description: (document) => parts[document]?.[0].description ?? new Uint32Array(),
    accepts: (document) => parts[document]?.[0].accepts ?? new Set(),
  };
  return {
    entries,
    reusable,
    analysed,
    search(text, { limit, allow, server, prior, likeness }) {
      const query = readQuery(text, known);
      const { scores, evidence } = scoreAll(query, corpus, weights);
      const alike = likeness ?? likenessOf(query);
      const exact = names.find(text);
      const isMeant = (document: number): boolean =>
        server === undefined || entries[document]?.upstream === server;
      const most = scores.reduce((one, other) => Math.max(one, other), 0) || 1;
      const all = combined(scores, most, { alike, exact, isMeant });
      const best = highest(all, weights.second.pool);
      const pool = { documents: best, scores: best.map((document) => (scores[document] ?? 0) / most) };
      const rescored = rescore(
        pool,
        { query, evidence, likeness: alike },
        { corpus, details, weights: weights.second },
      );
      const final = best.map((document, at) => ({
        document,
        score:
          (rescored[at] ?? 0) +
          bonus(exact.get(document)) +
          (prior === undefined ? 0 : PRIOR * prior(entryAt(entries, document))),
      }));
      final.sort((one, other) => other.score - one.score || one.document - other.document);
      return take(thenRest(final, all), { limit, allow, entries, query, evidence });
    },
  };
}

function knownOf({ reusable: { words }, corpus }: Documents, weights: Weights): Known {
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
    repair: repairer({ [Symbol.iterator]: terms }),
  };
}

/** Vectors of the documents are made when they are first needed: most processes never search. */
function likenessBy(
  { parts, corpus, reusable: { words } }: Documents,
  load: (() => WordVectors | undefined) | undefined,
): (query: Query) => Likeness | undefined {
  let made: Meanings | undefined;
  const { rarity, size } = corpus.postings;
  const unknown = 0.7 * Math.log(1 + size);
  const rarityOf = (term: string): number => (rarity[words.idOf(term) ?? -1] ?? 0) || unknown;
  return (query) => {
    const vectors = load?.();
    if (vectors === undefined) return undefined;
    const vector = queryVector(query, vectors, rarityOf);
    if (vector === undefined) return undefined;
    made ??= meanings(parts.map((both) => documentVector(both, rarity, { words, vectors })));
    return made.likeness(vector);
  };
}

interface Scored {
  readonly document: number;
  readonly score: number;
}

interface Favours {
  readonly alike: Likeness | undefined;
  readonly exact: ReadonlyMap<number, 'exposed' | 'original'>;
  /** Documents that may be found at all. */
  readonly isMeant: (document: number) => boolean;
}

/** First-stage scores of all documents at most 1, with what else speaks for them; 0 for those that are no hits. */
function combined(scores: Float64Array, most: number, { alike, exact, isMeant }: Favours): Float64Array {
  const all = new Float64Array(scores.length);
  for (let document = 0; document < scores.length; document += 1) {
    if (!isMeant(document)) continue;
    const lexical = (scores[document] ?? 0) / most;
    const meaning = alike?.[document] ?? 0;
    all[document] = lexical + GATHER_BY_MEANING * meaning;
  }
  for (const [document, kind] of exact)
    if (isMeant(document)) all[document] = (all[document] ?? 0) + bonus(kind);
  return all;
}

/** More than all else together can give. */
function bonus(exact: 'exposed' | 'original' | undefined): number {
  return exact === undefined ? 0 : exact === 'exposed' ? 20 : 10;
}

/** What lies below the pool follows in the order of the first stage; it is only sorted if somebody asks for it. */
function* thenRest(final: readonly Scored[], all: Float64Array): Generator<Scored> {
  yield* final;
  const taken = new Set(final.map(({ document }) => document));
  for (const document of highest(all, all.length)) {
    if (!taken.has(document)) yield { document, score: all[document] ?? 0 };
  }
}

function take(
  order: Iterable<Scored>,
  {
    limit,
    allow,
    entries,
    query,
    evidence,
  }: {
    readonly limit: number;
    readonly allow: (entry: ToolEntry) => boolean;
    readonly entries: readonly ToolEntry[];
    readonly query: Query;
    readonly evidence: readonly Evidence[];
  },
): readonly Hit[] {
  const hits: { readonly document: number; readonly entry: ToolEntry; readonly score: number }[] = [];
  let least = Infinity;
  for (const { document, score } of limit > 0 ? order : []) {
    least = Math.max(LEAST, Math.min(least, score));
    const entry = entryAt(entries, document);
    if (allow(entry) && hits.push({ document, entry, score: least }) >= limit) break;
  }
  const matched = new Map(hits.map(({ document }) => [document, new Array<string>()]));
  evidence.forEach((found, concept) => {
    const word = query.concepts[concept]?.word ?? '';
    for (const document of found.documents) matched.get(document)?.push(word);
  });
  return hits.map(({ document, entry, score }) => ({ entry, score, matched: matched.get(document) ?? [] }));
}

function entryAt(entries: readonly ToolEntry[], document: number): ToolEntry {
  const entry = entries[document];
  if (entry === undefined) throw new RangeError(`No tool has the number ${String(document)}.`);
  return entry;
}
