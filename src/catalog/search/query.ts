import { stem } from './stem.ts';
import type { Lexicon } from './synonyms.ts';
import type { Translator } from './translations.ts';
import { tokensOf } from './tokenize.ts';
import { TRANSLATION_WEIGHT } from './ranking-weights.ts';
import type { RankingWeights } from './ranking-weights.ts';

/** A word of a query with its alternatives, such as synonyms. */
export interface Concept {
  /** The word after stemming. */
  readonly term: string;
  /** The word without stemming, for display. */
  readonly word: string;
  /** 1, or more for a word that the query repeats. */
  readonly weight: number;
  /** The terms of the index that match the concept. The first one is the word itself, if any document contains it. */
  readonly alternatives: readonly { readonly term: number; readonly weight: number }[];
  /** Whether any document contains the word itself. */
  readonly isKnown: boolean;
}

/** The kinds of values that a query contains. */
export interface ValueKinds {
  readonly url: boolean;
  readonly path: boolean;
  readonly date: boolean;
  readonly email: boolean;
}

export interface Query {
  readonly concepts: readonly Concept[];
  /** Indices into `concepts`, in the order of the text, with repetitions. */
  readonly sequence: readonly number[];
  /** The clauses of a request for several things, each a list of indices into `concepts`; empty if there are fewer than two clauses. */
  readonly clauses: readonly (readonly number[])[];
  readonly values: ValueKinds;
}

/** The dictionaries that a query is interpreted with. */
export interface QueryContext {
  readonly lexicon: Lexicon;
  readonly translator: Translator;
  readonly weights: RankingWeights;
  /** Returns the number of a term that occurs in a document. */
  readonly termOf: (term: string) => number | undefined;
  /** Returns the known terms that an unknown term may stand for. */
  readonly repair: (term: string) => readonly number[];
}

const MAX_QUERY = 6_000;
const MAX_CONCEPTS = 96;
const MAX_CLAUSES = 12;
const MAX_REPAIRS = 12;
const CLAUSE_ENDS =
  /(?<=[.;?!:])\s+|\n+|,?\s+(?:and then|and also|then|also|additionally|as well as)\s+|,\s+and\s+|,\s+|\s+and\s+|\s+or\s+/i;
const URL = /\b(?:https?:\/\/|www\.)([^\s/?#"'<>]+)[^\s"'<>]*/gi;
const PATH =
  /(?:[A-Za-z]:[\\/]|~\/|\.{0,2}\/)[\w.@-]+(?:[\\/][\w.@-]+)+|\b[\w-]+\.(?:md|txt|csv|json|pdf|docx?|xlsx?|pptx?|png|jpe?g|wav|mp[34]|py|js|ts|html)\b/g;
const EMAIL = /\b[\w.+-]+@[\w-]+\.[\w.-]+\b/g;
const DATE = /\b(?:\d{4}-\d{1,2}(?:-\d{1,2})?|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})\b/g;
/** A long mix of letters and digits is the value of an identifier and not a word. */
const MIXED = /\b(?=\w*\d)(?=\w*[A-Za-z])\w{7,}\b/g;

/**
 * Parses a query. Values such as URLs and dates are recorded by kind and removed, because their characters
 * are not search words.
 */
export function readQuery(text: string, context: QueryContext): Query {
  const values = { url: false, path: false, date: false, email: false };
  const plain = text
    .slice(0, MAX_QUERY)
    .replaceAll(URL, (_all, host: string) => {
      values.url = true;
      return ` ${host.replaceAll(/\b(?:www|com|org|net|io|co)\b/gi, ' ')} `;
    })
    .replaceAll(EMAIL, () => {
      values.email = true;
      return ' ';
    })
    .replaceAll(PATH, (path) => {
      values.path = true;
      return ` ${/\.(\w{1,5})$/.exec(path)?.[1] ?? ''} `;
    })
    .replaceAll(DATE, () => {
      values.date = true;
      return ' ';
    })
    .replaceAll(MIXED, ' ');
  const isKnown = (word: string): boolean => context.termOf(stem(word)) !== undefined;
  return { ...parseConcepts(context.translator.translate(plain, isKnown), context), values };
}

function parseConcepts(text: string, context: QueryContext): Omit<Query, 'values'> {
  const counts = new Map<string, { word: string; count: number }>();
  const order: string[] = [];
  const parts: string[][] = [];
  for (const part of text.split(CLAUSE_ENDS)) {
    const terms: string[] = [];
    for (const { term, word } of tokensOf(part)) {
      const seen = counts.get(term);
      if (seen !== undefined) seen.count += 1;
      else if (counts.size < MAX_CONCEPTS) counts.set(term, { word, count: 1 });
      else continue;
      terms.push(term);
      order.push(term);
    }
    // A single word is not a clause.
    if (new Set(terms).size >= 2) parts.push(terms);
  }
  const indices = new Map([...counts.keys()].map((term, at) => [term, at]));
  const indicesOf = (terms: readonly string[]): number[] => terms.map((term) => indices.get(term) ?? 0);
  return {
    concepts: buildConcepts(counts, order, context),
    sequence: indicesOf(order),
    clauses:
      parts.length < 2 ? [] : parts.slice(0, MAX_CLAUSES).map((terms) => [...new Set(indicesOf(terms))]),
  };
}

function buildConcepts(
  counts: ReadonlyMap<string, { readonly word: string; readonly count: number }>,
  order: readonly string[],
  { lexicon, translator, weights, termOf, repair }: QueryContext,
): readonly Concept[] {
  let repairs = 0;
  return [...counts].map(([term, { word, count }]) => {
    const found = new Map<number, number>();
    const addAlternative = (other: string, weight: number): void => {
      const id = termOf(other);
      if (id !== undefined && !found.has(id)) found.set(id, weight);
    };
    addAlternative(term, 1);
    const isKnown = found.size > 0;
    for (const other of lexicon.synonyms.get(term) ?? [])
      if (!counts.has(other)) addAlternative(other, weights.synonym);
    for (const other of isKnown ? translator.meanings(word) : [])
      if (!counts.has(stem(other))) addAlternative(stem(other), TRANSLATION_WEIGHT);
    for (const other of lexicon.expanded.get(term) ?? [])
      if (!counts.has(other)) addAlternative(other, weights.synonym);
    // The word and its neighbour may be written as one word or as an abbreviation in documents.
    const at = order.indexOf(term);
    const pairs = [
      [term, order[at + 1]],
      [order[at - 1], term],
    ] as const;
    for (const [first, second] of pairs) {
      if (first === undefined || second === undefined) continue;
      const short = lexicon.shortened.get(`${first} ${second}`);
      if (short !== undefined) addAlternative(short, 1);
      const joined = stem((counts.get(first)?.word ?? '') + (counts.get(second)?.word ?? ''));
      addAlternative(joined, 1);
      // "Real estate" has the synonyms of "realestate".
      for (const other of lexicon.synonyms.get(joined) ?? [])
        if (!counts.has(other)) addAlternative(other, weights.synonym);
    }
    if (found.size === 0 && repairs < MAX_REPAIRS) {
      repairs += 1;
      for (const id of repair(term)) if (!found.has(id)) found.set(id, weights.repaired);
    }
    return {
      term,
      word,
      weight: 1 + weights.repetition * Math.log(count),
      alternatives: [...found].map(([id, weight]) => ({ term: id, weight })),
      isKnown,
    };
  });
}
