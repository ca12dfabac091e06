import type { ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { ExactNames } from './exact-names.ts';
import { highest } from './highest.ts';
import type { Alike } from './meaning.ts';
import { readQuery } from './query.ts';
import type { Known, Query } from './query.ts';
import { rescore } from './rescore.ts';
import type { Details } from './rescore.ts';
import { scoreAll } from './score.ts';
import type { Corpus, Evidence } from './score.ts';
import type { Scratch } from './scratch.ts';
import type { Hit, SearchOptions } from './search-index.ts';
import type { Weights } from './weights.ts';

/** Everything that a search reads. */
export interface Ranking {
  readonly entries: readonly ToolEntry[];
  readonly corpus: Corpus;
  readonly weights: Weights;
  readonly names: ExactNames;
  readonly known: Known;
  readonly likenessOf: (query: Query) => Alike | undefined;
  readonly details: Details;
  readonly scratch: Scratch;
}

/** At most what usage adds, where the best of the first stage has 1: it decides among near equals and nothing else. */
const PRIOR = 0.05;
/** What likeness of meaning counts when the candidates are gathered. */
const GATHER_BY_MEANING = 0.15;
const LEAST = 1e-6;
const EXACT = 10;

/** Whether the query is or has the tool's very name. */
export function isExact({ score }: Hit): boolean {
  return score > EXACT / 2;
}

export function rank(
  text: string,
  { limit, allow, server, prior, likeness }: SearchOptions,
  { entries, corpus, weights, names, known, likenessOf, details, scratch }: Ranking,
): readonly Hit[] {
  const query = readQuery(text, known);
  const { scores, most, evidence } = scoreAll(query, corpus, weights, scratch);
  const top = most || 1;
  const alike = likeness ?? likenessOf(query);
  const exact = names.find(text);
  const all = combined({ scores, top, alike, exact, only: server }, corpus, scratch.all);
  const best = highest(all, weights.second.pool);
  const rescored = rescore(
    { documents: best, scores: best.map((document) => (scores[document] ?? 0) / top) },
    { query, evidence, likeness: alike?.likeness },
    { corpus, details, weights: weights.second, scratch },
  );
  const final = best.map((document, at) => ({
    document,
    score:
      (rescored[at] ?? 0) +
      bonus(exact.get(document)) +
      (prior === undefined ? 0 : PRIOR * Math.min(1, prior(entryAt(entries, document)))),
  }));
  final.sort((one, other) => other.score - one.score || one.document - other.document);
  const taken = take(thenRest(final, all), { limit, allow, entries });
  const matched = matchedWords(
    taken.map(({ document }) => document),
    { query, evidence, slots: scratch.slots },
  );
  return taken.map(({ entry, score }, at) => ({ entry, score, matched: matched[at] ?? [] }));
}

interface Scored {
  readonly document: number;
  readonly score: number;
}

interface Favours {
  readonly scores: Float64Array;
  readonly top: number;
  readonly alike: Alike | undefined;
  readonly exact: ReadonlyMap<number, 'exposed' | 'original'>;
  /** The upstream whose tools may be found; all if there is none. */
  readonly only: string | undefined;
}

/** First-stage scores of all documents at most 1, with what else speaks for them; 0 for those that are no hits. */
function combined(
  { scores, top, alike, exact, only }: Favours,
  { servers, serverIds }: Corpus,
  all: Float64Array,
): Float64Array {
  // The cast only asks the map.
  const wanted = only === undefined ? undefined : (serverIds.get(only as UpstreamName) ?? -1);
  const isMeant = (document: number): boolean => wanted === undefined || servers[document] === wanted;
  for (let document = 0; document < all.length; document += 1) {
    const lexical = scores[document] ?? 0;
    const meaning = alike?.likeness[document] ?? 0;
    const isHit = isMeant(document) && (lexical > 0 || (alike !== undefined && meaning >= alike.clear));
    all[document] = isHit ? lexical / top + GATHER_BY_MEANING * meaning : 0;
  }
  for (const [document, kind] of exact)
    if (isMeant(document)) all[document] = (all[document] ?? 0) + bonus(kind);
  return all;
}

/** More than all else together can give. */
function bonus(exact: 'exposed' | 'original' | undefined): number {
  return exact === undefined ? 0 : exact === 'exposed' ? 2 * EXACT : EXACT;
}

/** What lies below the pool follows in the order of the first stage; it is only sorted if somebody asks for it. */
function* thenRest(final: readonly Scored[], all: Float64Array): Generator<Scored> {
  yield* final;
  const taken = new Set(final.map(({ document }) => document));
  for (const document of highest(all, all.length)) {
    if (!taken.has(document)) yield { document, score: all[document] ?? 0 };
  }
}

interface Taken extends Scored {
  readonly entry: ToolEntry;
}

function take(
  order: Iterable<Scored>,
  {
    limit,
    allow,
    entries,
  }: {
    readonly limit: number;
    readonly allow: (entry: ToolEntry) => boolean;
    readonly entries: readonly ToolEntry[];
  },
): readonly Taken[] {
  const hits: Taken[] = [];
  let least = Infinity;
  for (const { document, score } of limit > 0 ? order : []) {
    least = Math.max(LEAST, Math.min(least, score));
    const entry = entryAt(entries, document);
    if (allow(entry) && hits.push({ document, entry, score: least }) >= limit) break;
  }
  return hits;
}

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
