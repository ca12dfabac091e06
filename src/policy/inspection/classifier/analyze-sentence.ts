import { normalizeText } from '../normalize-text.ts';
import { MAX_ATTRIBUTES, ORDERED_PAIR_BASE } from './attribute-table.ts';
import type { ClassifierModel } from './classifier-model.ts';
import { findConceptMentions, splitWords } from './concept-mentions.ts';
import type { ConceptMention } from './concept-mentions.ts';
import { extractTerms } from './extract-terms.ts';
import type { TermIds } from './extract-terms.ts';
import { hasShoutedWords, matchTextPatterns } from './text-patterns.ts';

export interface Sentence {
  readonly text: string;
  /** Numbers of the attributes, in ascending order. */
  readonly attributes: readonly number[];
  /**
   * Features for pairs of concepts in which the second concept follows the first within `MAX_PAIR_DISTANCE`
   * words.
   */
  readonly orderedPairs: ReadonlySet<number>;
  readonly words: readonly string[];
  /** Terms of the sentence, as numbers of the vocabulary. */
  readonly terms: ReadonlySet<number>;
}

/** Caches the concepts and terms of words that occurred earlier in the same text. */
interface WordCache {
  readonly concepts: Map<string, readonly number[]>;
  readonly terms: Map<string, TermIds>;
}

export function createWordCache(): WordCache {
  return { concepts: new Map(), terms: new Map() };
}

/** Concepts that mark a sentence as a command (`#verb`) if its first word mentions one of them. */
const VERB_CONCEPTS = new Set('read give send run change delete tell ignore obey prefer hide'.split(' '));

export function analyzeSentence(
  original: string,
  model: ClassifierModel,
  cache: WordCache = createWordCache(),
): Sentence {
  const { lexicon, attributes } = model;
  // Words in camel case are separated first, because normalizing removes the capitals.
  const text = joinSpelledWords(normalizeText(original.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')));
  const words = splitWords(text);
  const mentions = findConceptMentions(words, lexicon, cache.concepts);
  const ids = new Set(mentions.map(({ concept }) => concept));
  for (const pattern of matchTextPatterns(text)) ids.add(attributes.idOf(pattern));
  if (hasShoutedWords(original)) ids.add(attributes.idOf('#shout'));
  if (mentions.some(({ concept, at }) => at === 0 && VERB_CONCEPTS.has(attributes.names[concept] ?? '')))
    ids.add(attributes.idOf('#verb'));
  return {
    text,
    attributes: [...ids].toSorted((one, other) => one - other),
    orderedPairs: findOrderedPairs(mentions, model),
    words,
    terms: extractTerms(text, words, model, cache.terms),
  };
}

/** Matches a word whose letters are separated, as in `i.g.n.o.r.e`. */
const SPELLED_WORD = /(?<![\p{L}\p{N}])(?:\p{L}[.\-_/]){3,}\p{L}(?![\p{L}\p{N}])/gu;

function joinSpelledWords(text: string): string {
  if (!/[.\-_/]\S[.\-_/]/.test(text)) return text;
  return text.replaceAll(SPELLED_WORD, (word) => word.replaceAll(/[.\-_/]/g, ''));
}

/** Maximum distance of two concepts in words, and maximum number of mentions per comparison. Both keep the work linear. */
const MAX_PAIR_DISTANCE = 5;
const MAX_COMPARED_MENTIONS = 12;

function findOrderedPairs(
  mentions: readonly ConceptMention[],
  { isWeighted }: ClassifierModel,
): ReadonlySet<number> {
  const pairs = new Set<number>();
  for (const [index, first] of mentions.entries()) {
    const end = Math.min(mentions.length, index + MAX_COMPARED_MENTIONS);
    for (let next = index + 1; next < end; next++) {
      const second = mentions[next] ?? first;
      const distance = second.at - first.at;
      if (distance > MAX_PAIR_DISTANCE) break;
      const pair = ORDERED_PAIR_BASE + first.concept * MAX_ATTRIBUTES + second.concept;
      if (distance > 0 && second.concept !== first.concept && isWeighted(pair)) pairs.add(pair);
    }
  }
  return pairs;
}
