import { stem } from './stem.ts';
import type { Lexicon } from './synonyms.ts';
import { tokensOf } from './tokenize.ts';
import type { Weights } from './weights.ts';

/** One thing that a query asks for: a word and whatever may stand for it. */
export interface Concept {
  readonly term: string;
  readonly word: string;
  readonly weight: number;
  /** The first is the word itself, if any document has it. */
  readonly alternatives: readonly { readonly term: number; readonly weight: number }[];
  /** Whether any document has the very word. */
  readonly isKnown: boolean;
}

/** What kinds of values a query contains. */
export interface Values {
  readonly url: boolean;
  readonly path: boolean;
  readonly date: boolean;
  readonly email: boolean;
}

export interface Query {
  readonly concepts: readonly Concept[];
  /** Concepts in the order of the text, by their place in `concepts`. */
  readonly sequence: readonly number[];
  /** The parts of a request that names several needs, each a list of concepts; none for a short query. */
  readonly clauses: readonly (readonly number[])[];
  readonly values: Values;
}

/** What a query is read against. */
export interface Known {
  readonly lexicon: Lexicon;
  readonly weights: Weights;
  /** The number of a term that some document has. */
  readonly termOf: (term: string) => number | undefined;
  /** Terms that an unknown one may be meant to be. */
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
/** Letters and digits mixed: the value of an identifier, not a word. */
const MIXED = /\b(?=\w*\d)(?=\w*[A-Za-z])\w{7,}\b/g;

export function readQuery(text: string, known: Known): Query {
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
  return { ...conceptsOf(plain, known), values };
}

function conceptsOf(text: string, known: Known): Omit<Query, 'values'> {
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
    if (new Set(terms).size >= 2) parts.push(terms);
  }
  const places = new Map([...counts.keys()].map((term, at) => [term, at]));
  const placesOf = (terms: readonly string[]): number[] => terms.map((term) => places.get(term) ?? 0);
  return {
    concepts: concepts(counts, order, known),
    sequence: placesOf(order),
    clauses:
      parts.length < 2 ? [] : parts.slice(0, MAX_CLAUSES).map((terms) => [...new Set(placesOf(terms))]),
  };
}

function concepts(
  counts: ReadonlyMap<string, { readonly word: string; readonly count: number }>,
  order: readonly string[],
  { lexicon, weights, termOf, repair }: Known,
): readonly Concept[] {
  let repairs = 0;
  return [...counts].map(([term, { word, count }]) => {
    const found = new Map<number, number>();
    const offer = (other: string, weight: number): void => {
      const id = termOf(other);
      if (id !== undefined && !found.has(id)) found.set(id, weight);
    };
    offer(term, 1);
    const isKnown = found.size > 0;
    for (const other of lexicon.same.get(term) ?? []) if (!counts.has(other)) offer(other, weights.synonym);
    for (const other of lexicon.expanded.get(term) ?? [])
      if (!counts.has(other)) offer(other, weights.synonym);
    const at = order.indexOf(term);
    const pairs = [
      [term, order[at + 1]],
      [order[at - 1], term],
    ] as const;
    for (const [first, second] of pairs) {
      if (first === undefined || second === undefined) continue;
      const short = lexicon.shortened.get(`${first} ${second}`);
      if (short !== undefined) offer(short, 1);
      const joined = stem((counts.get(first)?.word ?? '') + (counts.get(second)?.word ?? ''));
      offer(joined, 1);
      // "Real estate" is what "realestate" is.
      for (const other of lexicon.same.get(joined) ?? [])
        if (!counts.has(other)) offer(other, weights.synonym);
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
