import { stem } from './stem.ts';

/** One word of a text as the index knows it. */
export interface Token {
  /** Folded and stemmed, for comparison. */
  readonly term: string;
  /** Folded only, for display. */
  readonly word: string;
}

/** Longer words are not indexed: they are encoded data rather than language. */
const MAX_WORD = 40;
const RUNS = /[\p{L}\p{N}\p{M}][\p{L}\p{N}\p{M}_'’.-]*/gu;
/** Scripts whose words cannot be found by spaces alone; their text is indexed as overlapping pairs of characters. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]+/gu;
/** Matches an identifier of several words, such as `git_hub` or `gitHub`. */
const JOINT = /[_-]|\p{Ll}\p{Lu}/u;
/** `s3`, `k8s`, `mp4`, `base64` and `sha256` are one word, although they mix letters and digits. */
const SHORT_CODE = /^(?:[a-z]{1,4}\d{1,3}[a-z]?|\d[a-z])$/;

/** Returns the terms of a text without stop words, in order. */
export function tokenize(text: string): readonly string[] {
  return tokensOf(text).map(({ term }) => term);
}

/** Returns the tokens of a text without stop words, in order. */
export function tokensOf(text: string): readonly Token[] {
  return runsOf(text).flatMap(tokensOfRun);
}

export function tokensOfRun(run: string): readonly Token[] {
  return wordsOf(run).flatMap((word) => (STOP_WORDS.has(word) ? [] : [{ term: stem(word), word }]));
}

/**
 * Returns every two adjacent parts of an identifier as one word, so that a search for `github` finds `GitHub`
 * and `git_hub`.
 */
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
  for (const part of splitIdentifier(run)) {
    pushWords(fold(part), words);
  }
  return words;
}

/** Removes apostrophes and contracted endings such as `'s`, then splits `inputSchema`, `HTTPServer` and `git_hub` into their parts. */
function splitIdentifier(run: string): readonly string[] {
  const plain = run.replaceAll(/['’](?:s|d|m|t|ll|ve|re)?(?=$|[^\p{L}])/giu, '').replaceAll(/['’]/g, '');
  return plain
    .replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .replaceAll(/(\p{Lu}+)(\p{Lu}\p{Ll})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}\p{M}]+/u)
    .filter((part) => part !== '');
}

/** Removes case and the accents of Latin letters. */
export function fold(word: string): string {
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

/**
 * Splits a text at spaces and punctuation, except for the characters that can join the parts of a word or identifier: `_`, `'`, `’`, `.`
 * and `-`. Compatibility forms are normalized first, because one such character can stand for several letters or contain a space.
 */
export function runsOf(text: string): readonly string[] {
  return (isAscii(text) ? text : text.normalize('NFKC')).match(RUNS) ?? [];
}

/**
 * Adds the words of one part of an identifier. Numbers and letters become separate words; unspaced scripts
 * become pairs of characters.
 */
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

/** Words without meaning in a request for a tool, including the filler of polite requests. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  [
    'a an the this that these those it its itself there here',
    'i me my mine myself we us our ours ourselves you your yours yourself he him his she her hers they them their theirs',
    'who whom whose which what when where why how whatever whether',
    'am is are was were be been being do does did doing done have has had having can could will would shall should may might must cannot',
    'and or but nor so if then else than because as until while although though since unless',
    'of at by for with within without about against between into through during before after above below to from up down in out on off over under again further once upon onto per via across along',
    'all any both each few more most other another some such no not only own same too very just also even still yet ever either neither else much many lot lots several every',
    'don doesn didn isn aren wasn weren won wouldn couldn shouldn hasn haven hadn ll ve re im ive dont doesnt cant lets',
    'please help helping want wants wanted need needs needed needing like love wish hope hoping try trying let thanks thank kindly hello hi hey ok okay sure yes',
    'use uses used using utilize tool tools plugin plugins able possible currently really actually maybe perhaps',
    'give gives giving given provide provides provided providing tell show know knowing looking look interested assist assistance something anything someone anyone thing things etc eg ie',
    'firstly secondly thirdly finally lastly additionally furthermore moreover',
  ].flatMap((line) => line.split(' ')),
);
