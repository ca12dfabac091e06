import { normalizeText } from '../../normalize-text.ts';
import { ACTION_CONCEPTS } from './action-concepts.ts';
import { ACTOR_CONCEPTS } from './actor-concepts.ts';
import { MANNER_CONCEPTS } from './manner-concepts.ts';
import { OBJECT_CONCEPTS } from './object-concepts.ts';

/**
 * The words of each concept: English in base form (`en`), other languages (`xx`, with `*` for any ending), and scripts without spaces
 * (`cjk`).
 */
export type ConceptWords = Readonly<
  Record<string, { readonly en: string; readonly xx: string; readonly cjk: string }>
>;

/** A phrase of several words; a word may end with `*` for any ending. */
interface ConceptPhrase {
  readonly words: readonly string[];
  readonly concept: number;
}

export interface ConceptLexicon {
  readonly concepts: readonly string[];
  /** Concepts by complete word. */
  readonly exact: ReadonlyMap<string, readonly number[]>;
  /** Words with any ending, by their first `PREFIX_LENGTH` letters. */
  readonly prefixes: ReadonlyMap<string, readonly { readonly text: string; readonly concept: number }[]>;
  /** Phrases by their first word. */
  readonly phrases: ReadonlyMap<string, readonly ConceptPhrase[]>;
  /** Words of scripts without spaces, by their first character. */
  readonly unspaced: ReadonlyMap<string, readonly { readonly text: string; readonly concept: number }[]>;
}

export const PREFIX_LENGTH = 3;

/** Indexes the words of all languages, so that the concepts of a word are found with a few lookups. */
export function buildConceptLexicon(): ConceptLexicon {
  const concepts = Object.entries({
    ...ACTOR_CONCEPTS,
    ...ACTION_CONCEPTS,
    ...OBJECT_CONCEPTS,
    ...MANNER_CONCEPTS,
  });
  const exact = new Map<string, number[]>();
  const prefixes = new Map<string, { text: string; concept: number }[]>();
  const phrases = new Map<string, ConceptPhrase[]>();
  const unspaced = new Map<string, { text: string; concept: number }[]>();
  const append = <T>(map: Map<string, T[]>, key: string, value: T): void => {
    const list = map.get(key);
    if (list === undefined) map.set(key, [value]);
    else if (!list.includes(value)) list.push(value);
  };
  concepts.forEach(([, { en, xx, cjk }], concept) => {
    for (const { text, isEnglish } of [
      ...splitEntries(en).map((text) => ({ text, isEnglish: true })),
      ...splitEntries(xx).map((text) => ({ text, isEnglish: false })),
    ]) {
      const words = text.split(/[ -]/);
      const [first = ''] = words;
      if (words.length > 1) append(phrases, first, { words, concept });
      else if (text.endsWith('*'))
        append(prefixes, text.slice(0, PREFIX_LENGTH), { text: text.slice(0, -1), concept });
      else for (const form of isEnglish ? inflect(text) : [text]) append(exact, form, concept);
    }
    for (const text of splitEntries(cjk)) append(unspaced, text.charAt(0), { text, concept });
  });
  return { concepts: concepts.map(([name]) => name), exact, prefixes, phrases, unspaced };
}

function splitEntries(text: string): readonly string[] {
  return normalizeText(text)
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** Returns an English word with its regular endings. Forms that do not exist do no harm. */
function inflect(word: string): readonly string[] {
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
