import { stem } from './stem.ts';
import { STOP_WORDS } from './stop-words.ts';

/** One word of a text as the index knows it. */
export interface Token {
  /** Folded and stemmed: what is compared. */
  readonly term: string;
  /** Folded only: what a person would recognise. */
  readonly word: string;
}

const MAX_WORD = 40;
const RUNS = /[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}_'’.-]*/gu;
/** Scripts that are written without spaces. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
/** Where an identifier may consist of several words. */
const JOINT = /[_-]|\p{Ll}\p{Lu}/u;
/** `s3`, `k8s`, `mp4`, `base64`, `sha256`: one word, although letters and digits meet. */
const SHORT_CODE = /^(?:[a-z]{1,4}\d{1,3}[a-z]?|\d[a-z])$/;

/** Terms of a text without stop words, in order. */
export function tokenize(text: string): readonly string[] {
  return tokensOf(text).map(({ term }) => term);
}

/** Tokens of a text without stop words, in order. */
export function tokensOf(text: string): readonly Token[] {
  return runsOf(text).flatMap(tokensOfRun);
}

export function tokensOfRun(run: string): readonly Token[] {
  return wordsOf(run).flatMap((word) => (STOP_WORDS.has(word) ? [] : [{ term: stem(word), word }]));
}

/** What an identifier is when its parts are written as one word: `GitHub` and `git_hub` are looked for as `github`. */
export function joinedTerms(identifier: string): readonly string[] {
  return runsOf(identifier).flatMap(joinedTermsOfRun);
}

export function joinedTermsOfRun(run: string): readonly string[] {
  const joined: string[] = [];
  if (!JOINT.test(run)) return joined;
  const parts = wordsOf(run);
  for (let at = 1; at < parts.length; at += 1) {
    const word = `${parts[at - 1] ?? ''}${parts[at] ?? ''}`;
    if (word.length <= MAX_WORD && /^\p{L}+$/u.test(word)) joined.push(stem(word));
  }
  return joined;
}

function wordsOf(run: string): readonly string[] {
  const words: string[] = [];
  for (const part of parts(run)) {
    pushWords(fold(part), words);
  }
  return words;
}

function parts(run: string): readonly string[] {
  const plain = run.replaceAll(/['’](?:s|d|m|t|ll|ve|re)?(?=$|[^\p{L}])/giu, '').replaceAll(/['’]/g, '');
  return plain
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((part) => part !== '');
}

/** Case and accents of Latin letters do not tell words apart. */
function fold(word: string): string {
  const lower = word.toLowerCase();
  if (isAscii(lower)) return lower;
  return lower
    .normalize('NFD')
    .replaceAll(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .normalize('NFC');
}

function isAscii(text: string): boolean {
  return /^[\u0000-\u007F]*$/.test(text);
}

/** What stands between spaces and signs. Compatibility forms may hide spaces and several letters in one character. */
export function runsOf(text: string): readonly string[] {
  return (isAscii(text) ? text : text.normalize('NFKC')).match(RUNS) ?? [];
}

function pushWords(word: string, words: string[]): void {
  if (SHORT_CODE.test(word)) {
    words.push(word);
    return;
  }
  for (const piece of word.match(/\p{N}+|[^\p{N}]+/gu) ?? []) {
    let from = 0;
    for (const match of piece.matchAll(UNSPACED)) {
      if (match.index > from && match.index - from <= MAX_WORD) words.push(piece.slice(from, match.index));
      pushPairs(match[0], words);
      from = match.index + match[0].length;
    }
    if (from < piece.length && piece.length - from <= MAX_WORD) words.push(piece.slice(from));
  }
}

function pushPairs(text: string, words: string[]): void {
  const characters = Array.from(text);
  if (characters.length === 1) words.push(text);
  for (let at = 1; at < characters.length; at += 1)
    words.push(`${characters[at - 1] ?? ''}${characters[at] ?? ''}`);
}
