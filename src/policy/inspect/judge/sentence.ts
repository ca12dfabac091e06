import { plainText } from '../plain-words.ts';
import { mentionsIn, wordsOf } from './concepts.ts';
import type { Mention } from './concepts.ts';
import type { Lexicon } from './lexicon.ts';
import { MAX_MARKS } from './marks.ts';
import type { Marks } from './marks.ts';
import { isShouted, shapesIn } from './shapes.ts';

/** A sentence as it is judged: its marks, which meanings follow each other closely, and its words. */
export interface Sentence {
  readonly text: string;
  /** In order. */
  readonly marks: readonly number[];
  /** Two meanings, the first a few words before the second, as one number. */
  readonly near: ReadonlySet<number>;
  readonly words: readonly string[];
  /** The words that can say something, without their endings. */
  readonly stems: ReadonlySet<string>;
}

/** How many words may lie between, and how many meanings are looked ahead; both keep the work linear. */
const NEAR_WORDS = 5;
const NEAR_MENTIONS = 12;
const VERBS = new Set('read give send run change delete tell ignore obey prefer hide'.split(' '));
/** Longer ones are addresses and codes, which say nothing as words. */
const MAX_WORD = 20;
/** `i.g.n.o.r.e` is a word in pieces. */
const IN_PIECES = /(?<![\p{L}\p{N}])(?:\p{L}[.\-_/]){3,}\p{L}(?![\p{L}\p{N}])/gu;

export function readSentence(raw: string, lexicon: Lexicon, marks: Marks): Sentence {
  const text = plainText(raw.replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')).replaceAll(IN_PIECES, (pieces) =>
    pieces.replaceAll(/[.\-_/]/g, ''),
  );
  const words = wordsOf(text);
  const mentions = mentionsIn(words, lexicon);
  const noted = new Set(mentions.map(({ concept }) => concept));
  for (const shape of shapesIn(text)) noted.add(marks.idOf(shape));
  if (isShouted(raw)) noted.add(marks.idOf('#shout'));
  if (mentions.some(({ concept, at }) => at === 0 && VERBS.has(marks.names[concept] ?? '')))
    noted.add(marks.idOf('#verb'));
  return {
    text,
    marks: [...noted].toSorted((one, other) => one - other),
    near: nearPairs(mentions),
    words,
    stems: stemsOf(text),
  };
}

function nearPairs(mentions: readonly Mention[]): ReadonlySet<number> {
  const pairs = new Set<number>();
  for (const [index, first] of mentions.entries()) {
    const end = Math.min(mentions.length, index + NEAR_MENTIONS);
    for (let further = index + 1; further < end; further++) {
      const second = mentions[further] ?? first;
      const distance = second.at - first.at;
      if (distance > NEAR_WORDS) break;
      if (distance > 0 && second.concept !== first.concept)
        pairs.add(first.concept * MAX_MARKS + second.concept);
    }
  }
  return pairs;
}

/** Which hosts and mailboxes are named is chance, so their parts are no words. */
const ADDRESS = /https?:\/\/\S{1,200}|[\w.+{}-]{1,64}@[\w.-]{1,80}|[\w-]{1,40}\.(?:example|test)\b/g;

function stemsOf(text: string): ReadonlySet<string> {
  const stems = new Set<string>();
  for (const word of wordsOf(text.replaceAll(ADDRESS, ' ')))
    if (word.length > 1 && word.length < MAX_WORD && !/^\d+$/.test(word)) stems.add(stemOf(word));
  return stems;
}

/** Endings of English cut off, roughly. */
function stemOf(word: string): string {
  return word.length < 5 || !/^[a-z]+$/.test(word) ? word : word.replace(/(?:ing|ed|es|s|e)$/, '');
}
