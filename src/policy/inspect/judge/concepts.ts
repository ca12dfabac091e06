import { BEGINNING } from './lexicon/lexicon.ts';
import type { Lexicon } from './lexicon/lexicon.ts';

/** One meaning at one place of a sentence; places count words. */
export interface Mention {
  readonly concept: number;
  readonly at: number;
}

const WORD = /[\p{L}\p{M}\p{N}]+(?:'\p{L}+)*/gu;
const PLAIN_WORD = /[a-z0-9]+(?:'[a-z]+)*/g;
const SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
/** `l'utilisateur` is two words, `don't` is one. */
const ARTICLE = /^(?:[cdjlmnst]|qu)'\p{L}/u;
/** Where scripts without spaces begin. */
const FIRST_SIGN = 0x10_ff;
/** Two signs are about as much as a word. */
const SIGNS_PER_WORD = 2;
const NONE: readonly number[] = [];
/** `p4ssw0rd` is meant to be read as letters. */
const IN_DIGITS = /^(?=.*\d)[a-z013457]*[a-z][a-z013457]*$/;
const MAX_LEET = 30;
const LEET: Readonly<Record<string, string>> = { 0: 'o', 1: 'i', 3: 'e', 4: 'a', 5: 's', 7: 't' };

/** The words of a text in lower case; those of scripts without spaces are left whole. */
export function wordsOf(text: string): readonly string[] {
  const words = text.match(/[^ -~\s]/.test(text) ? WORD : PLAIN_WORD) ?? [];
  if (!text.includes("'")) return words;
  return words.flatMap((word) => {
    if (!ARTICLE.test(word)) return [word];
    const at = word.indexOf("'");
    return [word.slice(0, at), word.slice(at + 1)];
  });
}

/** Whether a word is of a script without spaces. */
export function isSign(word: string): boolean {
  return word.charCodeAt(0) > FIRST_SIGN && SIGN.test(word);
}

/** What the words mean. Each place is looked at a bounded number of times; `known` has the words of one text. */
export function mentionsIn(
  words: readonly string[],
  lexicon: Lexicon,
  known: Map<string, readonly number[]>,
): readonly Mention[] {
  const found: Mention[] = [];
  let at = 0;
  for (const [index, word] of words.entries()) {
    if (isSign(word)) {
      addSigns(word, at, lexicon, found);
      at += word.length / SIGNS_PER_WORD;
      continue;
    }
    let concepts = known.get(word);
    if (concepts === undefined) known.set(word, (concepts = conceptsOf(word, lexicon)));
    for (const concept of concepts) found.push({ concept, at });
    const phrases = lexicon.phrases.get(word);
    if (phrases !== undefined)
      for (const { words: rest, concept } of phrases)
        if (continues(words, index, rest)) found.push({ concept, at });
    at++;
  }
  return found;
}

function conceptsOf(word: string, { exact, beginnings }: Lexicon): readonly number[] {
  const plain =
    word.length <= MAX_LEET && IN_DIGITS.test(word)
      ? word.replaceAll(/[013457]/g, (digit) => LEET[digit] ?? digit)
      : word;
  const whole = exact.get(plain) ?? NONE;
  const list = beginnings.get(plain.slice(0, BEGINNING));
  if (list === undefined) return whole;
  let all = whole;
  for (const { text, concept } of list)
    if (plain.startsWith(text) && !all.includes(concept)) all = [...all, concept];
  return all;
}

function continues(words: readonly string[], index: number, phrase: readonly string[]): boolean {
  return phrase.every((wanted, offset) => {
    const word = words[index + offset];
    if (word === undefined) return false;
    return wanted.endsWith('*')
      ? word.startsWith(wanted.slice(0, -1))
      : word === wanted || (offset === phrase.length - 1 && word === `${wanted}s`);
  });
}

function addSigns(text: string, begin: number, { signs }: Lexicon, found: Mention[]): void {
  for (let at = 0; at < text.length; at++) {
    const list = signs.get(text.charAt(at));
    if (list === undefined) continue;
    for (const { text: sign, concept } of list)
      if (text.startsWith(sign, at)) found.push({ concept, at: begin + at / SIGNS_PER_WORD });
  }
}
