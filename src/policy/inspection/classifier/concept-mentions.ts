import { PREFIX_LENGTH } from './lexicon/concept-lexicon.ts';
import type { ConceptLexicon } from './lexicon/concept-lexicon.ts';

/** A concept that a sentence mentions. */
export interface ConceptMention {
  readonly concept: number;
  /** Position in words; fractional in scripts without spaces. */
  readonly at: number;
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:'\p{L}+)*/gu;
const ASCII_WORD = /[a-z0-9]+(?:'[a-z]+)*/g;
const UNSPACED_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
/** Matches an elided word: `l'utilisateur` is two words, while `don't` is one. */
const ELISION = /^(?:[cdjlmnst]|qu)'\p{L}/u;
/**
 * All scripts without spaces have larger code points, so most words can be excluded without a regular
 * expression.
 */
const LAST_SPACED = 0x10_ff;
/** Number of characters that count as one word in scripts without spaces. */
const CHARACTERS_PER_WORD = 2;
const NO_CONCEPTS: readonly number[] = [];
/** Matches words with digits in place of letters, such as `p4ssw0rd`. */
const LEET_WORD = /^(?=.*\d)[a-z013457]*[a-z][a-z013457]*$/;
const MAX_LEET_LENGTH = 30;
const LEET_LETTERS: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' };

/** Splits a lower-case text into words. A run of characters of a script without spaces stays one word. */
export function splitWords(text: string): readonly string[] {
  const words = text.match(/[^ -~\s]/.test(text) ? WORD : ASCII_WORD) ?? [];
  if (!text.includes("'")) return words;
  return words.flatMap((word) => {
    if (!ELISION.test(word)) return [word];
    const apostrophe = word.indexOf("'");
    return [word.slice(0, apostrophe), word.slice(apostrophe + 1)];
  });
}

/** Whether a word belongs to a script without spaces. */
export function isUnspacedScript(word: string): boolean {
  return word.charCodeAt(0) > LAST_SPACED && UNSPACED_SCRIPT.test(word);
}

/** Finds the concepts that the words mention. `cache` holds the concepts of words that occurred earlier in the same text. */
export function findConceptMentions(
  words: readonly string[],
  lexicon: ConceptLexicon,
  cache: Map<string, readonly number[]>,
): readonly ConceptMention[] {
  const mentions: ConceptMention[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    if (isUnspacedScript(word)) {
      addUnspacedMentions(word, at, lexicon, mentions);
      at += word.length / CHARACTERS_PER_WORD;
      continue;
    }
    let concepts = cache.get(word);
    if (concepts === undefined) cache.set(word, (concepts = conceptsOf(word, lexicon)));
    for (const concept of concepts) mentions.push({ concept, at });
    const phrases = lexicon.phrases.get(word);
    if (phrases !== undefined)
      for (const { words: phrase, concept } of phrases)
        if (startsWithPhrase(words, index, phrase)) mentions.push({ concept, at });
    at++;
  }
  return mentions;
}

function conceptsOf(word: string, { exact, prefixes }: ConceptLexicon): readonly number[] {
  const letters =
    word.length <= MAX_LEET_LENGTH && LEET_WORD.test(word)
      ? word.replaceAll(/[013457]/g, (digit) => LEET_LETTERS[digit] ?? digit)
      : word;
  let concepts = exact.get(letters) ?? NO_CONCEPTS;
  for (const { text, concept } of prefixes.get(letters.slice(0, PREFIX_LENGTH)) ?? [])
    if (letters.startsWith(text) && !concepts.includes(concept)) concepts = [...concepts, concept];
  return concepts;
}

function startsWithPhrase(words: readonly string[], index: number, phrase: readonly string[]): boolean {
  return phrase.every((expected, offset) => {
    const word = words[index + offset];
    if (word === undefined) return false;
    return expected.endsWith('*')
      ? word.startsWith(expected.slice(0, -1))
      : word === expected || (offset === phrase.length - 1 && word === `${expected}s`);
  });
}

function addUnspacedMentions(
  text: string,
  position: number,
  { unspaced }: ConceptLexicon,
  mentions: ConceptMention[],
): void {
  for (let index = 0; index < text.length; index++) {
    const candidates = unspaced.get(text.charAt(index));
    if (candidates === undefined) continue;
    for (const { text: word, concept } of candidates)
      if (text.startsWith(word, index))
        mentions.push({ concept, at: position + index / CHARACTERS_PER_WORD });
  }
}
