import { isSign, wordsOf } from './concepts.ts';
import type { Reader } from './reader.ts';

/** Longer ones are addresses and codes, which say nothing as words. */
const MAX_WORD = 20;
/** Which hosts and mailboxes are named is chance, so their parts are no words. */
const ADDRESS = /https?:\/\/\S{1,200}|[\w.+{}-]{1,64}@[\w.-]{1,80}|[\w-]{1,40}\.(?:example|test)\b/g;

/** A word as numbers of the vocabulary. */
export interface KnownTerm {
  readonly own: number | undefined;
  readonly isNoted: boolean;
  readonly group: number | undefined;
}

/**
 * What can weigh in a sentence besides its meanings, as numbers of the vocabulary: words without their endings, two that follow
 * each other, groups of words that are used alike, and pairs of signs where a script has no spaces.
 */
export function termsOf(
  text: string,
  words: readonly string[],
  reader: Reader,
  known: Map<string, KnownTerm>,
): ReadonlySet<number> {
  const { vocabulary } = reader;
  const terms = new Set<number>();
  const note = (term: number | undefined): void => {
    if (term !== undefined) terms.add(term);
  };
  let last: number | undefined;
  const said = /[@/]|\.(?:example|test)/.test(text) ? wordsOf(text.replaceAll(ADDRESS, ' ')) : words;
  for (const word of said) {
    if (isSign(word))
      for (let at = 0; at + 1 < word.length; at++) note(vocabulary.wordOf(word.slice(at, at + 2)));
    let term = known.get(word);
    if (term === undefined) known.set(word, (term = termOf(word, reader)));
    const { own, isNoted, group } = term;
    if (isNoted) note(own);
    if (last !== undefined && own !== undefined) note(vocabulary.pairOf(last, own));
    note(group);
    last = own;
  }
  return terms;
}

function termOf(word: string, { vocabulary, groups }: Reader): KnownTerm {
  const stem = word.length > MAX_WORD ? undefined : stemOf(word);
  return {
    own: stem === undefined ? undefined : vocabulary.wordOf(stem),
    isNoted: word.length > 1 && !isNumber(word),
    group: stem === undefined ? undefined : (groups.get(stem) ?? groups.get(word)),
  };
}

function isNumber(word: string): boolean {
  return word.charCodeAt(0) < 58 && /^\d+$/.test(word);
}

/** Endings of English cut off, roughly. */
function stemOf(word: string): string {
  return word.length < 5 || !/^[a-z]+$/.test(word) ? word : word.replace(/(?:ing|ed|es|s|e)$/, '');
}
