import { isUnspacedScript, splitWords } from './concept-mentions.ts';
import type { ClassifierModel } from './classifier-model.ts';

/** Maximum length of a word that counts as a term. Longer ones are addresses and codes without a meaning. */
const MAX_WORD_LENGTH = 20;
/** Matches URLs, mail addresses and example hosts. Their parts are arbitrary, so they do not count as words. */
const ADDRESS = /https?:\/\/\S{1,200}|[\w.+{}-]{1,64}@[\w.-]{1,80}|[\w-]{1,40}\.(?:example|test)\b/g;

/** The vocabulary numbers of a word. */
export interface TermIds {
  readonly word: number | undefined;
  /** Whether the word counts by itself; numbers and single characters count only in pairs. */
  readonly isTerm: boolean;
  /** The group of words that are used alike. */
  readonly group: number | undefined;
}

/**
 * Returns the terms of a sentence as numbers of the vocabulary: stems, pairs of adjacent stems, groups of words that are used
 * alike, and pairs of characters in scripts without spaces.
 */
export function extractTerms(
  text: string,
  words: readonly string[],
  model: ClassifierModel,
  cache: Map<string, TermIds>,
): ReadonlySet<number> {
  const { vocabulary } = model;
  const terms = new Set<number>();
  const add = (term: number | undefined): void => {
    if (term !== undefined) terms.add(term);
  };
  let previous: number | undefined;
  const countedWords = /[@/]|\.(?:example|test)/.test(text)
    ? splitWords(text.replaceAll(ADDRESS, ' '))
    : words;
  for (const word of countedWords) {
    if (isUnspacedScript(word))
      for (let at = 0; at + 1 < word.length; at++) add(vocabulary.wordId(word.slice(at, at + 2)));
    let ids = cache.get(word);
    if (ids === undefined) cache.set(word, (ids = termIds(word, model)));
    if (ids.isTerm) add(ids.word);
    if (previous !== undefined && ids.word !== undefined) add(vocabulary.pairId(previous, ids.word));
    add(ids.group);
    previous = ids.word;
  }
  return terms;
}

function termIds(word: string, { vocabulary, wordGroups }: ClassifierModel): TermIds {
  const stem = word.length > MAX_WORD_LENGTH ? undefined : stemOf(word);
  return {
    word: stem === undefined ? undefined : vocabulary.wordId(stem),
    isTerm: word.length > 1 && !isNumber(word),
    group: stem === undefined ? undefined : (wordGroups.get(stem) ?? wordGroups.get(word)),
  };
}

function isNumber(word: string): boolean {
  return word.charCodeAt(0) < 58 && /^\d+$/.test(word);
}

/** Removes common English endings. */
function stemOf(word: string): string {
  return word.length < 5 || !/^[a-z]+$/.test(word) ? word : word.replace(/(?:ing|ed|es|s|e)$/, '');
}
