import { plainText } from '../plain-words.ts';
import { mentionsIn, wordsOf } from './concepts.ts';
import type { Mention } from './concepts.ts';
import { MAX_MARKS, NEAR_BASE } from './marks.ts';
import type { Reader } from './reader.ts';
import { isShouted, shapesIn } from './shapes.ts';
import { termsOf } from './terms.ts';
import type { KnownTerm } from './terms.ts';

/** A sentence as it is judged: its marks, which meanings follow each other closely, and its words. */
export interface Sentence {
  readonly text: string;
  /** In order. */
  readonly marks: readonly number[];
  /** Two meanings, the first a few words before the second, as one feature. */
  readonly near: ReadonlySet<number>;
  readonly words: readonly string[];
  /** What is said, apart from what it means. */
  readonly terms: ReadonlySet<number>;
}

/** What was found out about words of the same text before. */
export interface KnownWords {
  readonly concepts: Map<string, readonly number[]>;
  readonly terms: Map<string, KnownTerm>;
}

export function knownWords(): KnownWords {
  return { concepts: new Map(), terms: new Map() };
}

/** How many words may lie between, and how many meanings are looked ahead; both keep the work linear. */
const NEAR_WORDS = 5;
const NEAR_MENTIONS = 12;
const VERBS = new Set('read give send run change delete tell ignore obey prefer hide'.split(' '));
/** `i.g.n.o.r.e` is a word in pieces. */
const IN_PIECES = /(?<![\p{L}\p{N}])(?:\p{L}[.\-_/]){3,}\p{L}(?![\p{L}\p{N}])/gu;

export function readSentence(raw: string, reader: Reader, known: KnownWords = knownWords()): Sentence {
  const { lexicon, marks } = reader;
  const text = joined(plainText(raw.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')));
  const words = wordsOf(text);
  const mentions = mentionsIn(words, lexicon, known.concepts);
  const noted = new Set(mentions.map(({ concept }) => concept));
  for (const shape of shapesIn(text)) noted.add(marks.idOf(shape));
  if (isShouted(raw)) noted.add(marks.idOf('#shout'));
  if (mentions.some(({ concept, at }) => at === 0 && VERBS.has(marks.names[concept] ?? '')))
    noted.add(marks.idOf('#verb'));
  return {
    text,
    marks: [...noted].toSorted((one, other) => one - other),
    near: nearPairs(mentions, reader),
    words,
    terms: termsOf(text, words, reader, known.terms),
  };
}

function joined(text: string): string {
  if (!/[.\-_/]\S[.\-_/]/.test(text)) return text;
  return text.replaceAll(IN_PIECES, (pieces) => pieces.replaceAll(/[.\-_/]/g, ''));
}

function nearPairs(mentions: readonly Mention[], { counts }: Reader): ReadonlySet<number> {
  const pairs = new Set<number>();
  for (const [index, first] of mentions.entries()) {
    const end = Math.min(mentions.length, index + NEAR_MENTIONS);
    for (let further = index + 1; further < end; further++) {
      const second = mentions[further] ?? first;
      const distance = second.at - first.at;
      if (distance > NEAR_WORDS) break;
      const pair = NEAR_BASE + first.concept * MAX_MARKS + second.concept;
      if (distance > 0 && second.concept !== first.concept && counts(pair)) pairs.add(pair);
    }
  }
  return pairs;
}
