import { plainText } from '../../plain-words.ts';
import { ACTS } from './acts.ts';
import { MANNER } from './manner.ts';
import { THINGS } from './things.ts';
import { WHO } from './who.ts';

/** Words of one meaning: English in base form, other languages as they are (`*` for any ending), scripts without spaces. */
export type ConceptWords = Readonly<
  Record<string, { readonly en: string; readonly xx: string; readonly cjk: string }>
>;

/** A phrase of several words, of which each may have any ending. */
interface Phrase {
  readonly words: readonly string[];
  readonly concept: number;
}

export interface Lexicon {
  readonly concepts: readonly string[];
  readonly exact: ReadonlyMap<string, readonly number[]>;
  /** By their first letters, since a longer beginning cannot be looked up. */
  readonly beginnings: ReadonlyMap<string, readonly { readonly text: string; readonly concept: number }[]>;
  readonly phrases: ReadonlyMap<string, readonly Phrase[]>;
  readonly signs: ReadonlyMap<string, readonly { readonly text: string; readonly concept: number }[]>;
}

export const BEGINNING = 3;

/** The words of all languages in a form that takes a few look-ups per word of a text, however many words there are. */
export function readLexicon(): Lexicon {
  const all = Object.entries({ ...WHO, ...ACTS, ...THINGS, ...MANNER });
  const exact = new Map<string, number[]>();
  const beginnings = new Map<string, { text: string; concept: number }[]>();
  const phrases = new Map<string, Phrase[]>();
  const signs = new Map<string, { text: string; concept: number }[]>();
  const put = <T>(map: Map<string, T[]>, key: string, value: T): void => {
    const list = map.get(key);
    if (list === undefined) map.set(key, [value]);
    else if (!list.includes(value)) list.push(value);
  };
  all.forEach(([, { en, xx, cjk }], concept) => {
    for (const { text, isEnglish } of [
      ...entries(en).map((text) => ({ text, isEnglish: true })),
      ...entries(xx).map((text) => ({ text, isEnglish: false })),
    ]) {
      const words = text.split(/[ -]/);
      const [first = ''] = words;
      if (words.length > 1) put(phrases, first, { words, concept });
      else if (text.endsWith('*'))
        put(beginnings, text.slice(0, BEGINNING), { text: text.slice(0, -1), concept });
      else for (const form of isEnglish ? formsOf(text) : [text]) put(exact, form, concept);
    }
    for (const text of entries(cjk)) put(signs, text.charAt(0), { text, concept });
  });
  return { concepts: all.map(([name]) => name), exact, beginnings, phrases, signs };
}

function entries(text: string): readonly string[] {
  return plainText(text)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** A word with its regular endings; forms that do not exist do no harm. */
function formsOf(word: string): readonly string[] {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return [word];
  const stem = word.endsWith('e') ? word.slice(0, -1) : word;
  const forms = [word, `${word}s`, `${stem}ed`, `${stem}ing`];
  if (/[aeiou][bdgklmnprt]$/.test(word) && word.length <= 6) {
    const doubled = word + word.at(-1);
    forms.push(`${doubled}ed`, `${doubled}ing`);
  }
  if (/(?:s|x|ch|sh|o)$/.test(word)) forms.push(`${word}es`);
  if (/[^aeiou]y$/.test(word)) forms.push(`${word.slice(0, -1)}ies`, `${word.slice(0, -1)}ied`);
  return forms;
}
