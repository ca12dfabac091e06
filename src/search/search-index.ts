import type { ToolEntry } from '../model/entry.ts';
import { documents } from './corpus.ts';
import type { Documents, Reusable, Source } from './corpus.ts';
import { exactNames } from './exact-names.ts';
import { documentVector, meanings, queryVector } from './meaning.ts';
import type { Likeness, Meanings } from './meaning.ts';
import { readQuery } from './query.ts';
import type { Known, Query } from './query.ts';
import { repairer } from './repair.ts';
import { rescore } from './rescore.ts';
import type { Details, Pool } from './rescore.ts';
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
  allow(entry: ToolEntry): boolean;
  /** Only tools of this upstream. */
  readonly server?: string;
  /** What is known in favour of a tool beforehand, from 0 to 1. */
  prior?(entry: ToolEntry): number;
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
  vectors?(): WordVectors | undefined;
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
      const order = ranked(scores, { alike, exact, entries, server });
      const pool = poolOf(order, weights.second.pool);
      const rescored = rescore(pool, { query, evidence, likeness: alike }, { corpus, details, weights: weights.second });
      const final = pool.documents.map((document, at) => ({
        document,
        score:
          (rescored[at] ?? 0) +
          bonus(exact.get(document)) +
          (prior === undefined ? 0 : PRIOR * prior(entryAt(entries, document))),
      }));
      final.sort((one, other) => other.score - one.score || one.document - other.document);
      return take([...final, ...order.slice(pool.documents.length)], { limit, allow, entries, query, evidence });
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
interface Candidate extends Scored {
  /** The part of the score that words gave. */
  readonly lexical: number;
}

/** All documents with anything in their favour, the best first. */
function ranked(
  scores: Float64Array,
  { alike, exact, entries, server }: {
    readonly alike: Likeness | undefined;
    readonly exact: ReadonlyMap<number, 'exposed' | 'original'>;
    readonly entries: readonly ToolEntry[];
    readonly server: string | undefined;
  },
): readonly Candidate[] {
  let most = 0;
  for (const score of scores) if (score > most) most = score;
  const found: Candidate[] = [];
  for (let document = 0; document < scores.length; document += 1) {
    const lexical = most === 0 ? 0 : (scores[document] ?? 0) / most;
    const score = lexical + GATHER_BY_MEANING * (alike?.[document] ?? 0) + bonus(exact.get(document));
    if (score > 0 && (server === undefined || entries[document]?.upstream === server)) found.push({ document, score, lexical });
  }
  return found.sort((one, other) => other.score - one.score || one.document - other.document);
}

function poolOf(order: readonly Candidate[], size: number): Pool {
  const best = order.slice(0, size);
  return { documents: best.map(({ document }) => document), scores: best.map(({ lexical }) => lexical) };
}

/** More than all else together can give. */
function bonus(exact: 'exposed' | 'original' | undefined): number {
  return exact === undefined ? 0 : exact === 'exposed' ? 20 : 10;
}

function take(
  order: readonly Scored[],
  { limit, allow, entries, query, evidence }: {
    readonly limit: number;
    readonly allow: (entry: ToolEntry) => boolean;
    readonly entries: readonly ToolEntry[];
    readonly query: Query;
    readonly evidence: readonly Evidence[];
  },
): readonly Hit[] {
  const hits: { readonly document: number; readonly entry: ToolEntry; readonly score: number }[] = [];
  let least = Infinity;
  for (const { document, score } of order) {
    if (hits.length >= limit) break;
    least = Math.max(LEAST, Math.min(least, score));
    const entry = entryAt(entries, document);
    if (allow(entry)) hits.push({ document, entry, score: least });
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

