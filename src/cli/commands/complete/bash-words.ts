/** A command line that bash completes: its words without quotes, and how to insert a candidate for the last word. */
export interface BashWords {
  readonly words: readonly string[];
  /** Returns the text that replaces the end of the last word, quoted so that bash runs and expands nothing in it. */
  insert(candidate: string): string;
}

/** The quote that is open where the word ends. */
type OpenQuote = '' | "'" | '"';

interface ParsedWord {
  readonly text: string;
  readonly openQuote: OpenQuote;
  /**
   * The beginning of `text` that readline keeps. Readline replaces only the part after the open quote or the last unquoted break character.
   */
  readonly kept: string;
  /** Whether bash expands a part of the word, as in `$HOME` and `$'a'`. */
  readonly isExpanded: boolean;
}

/** Matches every ASCII character that may have a special meaning to bash. */
const SPECIAL = /[^\w./:=@%+\u0080-\uffff-]/g;

/**
 * Parses COMP_WORDS. Bash fills it with the words as they were typed, including quotes, and splits them at the characters of
 * COMP_WORDBREAKS. Returns undefined if bash would expand the last word, because its final text is then unknown.
 */
export function readBashWords(typed: readonly string[], breaks: string): BashWords | undefined {
  const parsed = joinParts(typed, breaks).map((word) => parseWord(word, breaks));
  const last = parsed.at(-1);
  if (last === undefined || last.isExpanded) return undefined;
  return {
    words: parsed.map(({ text }) => text),
    insert: (candidate) => quoteForBash(candidate.slice(last.kept.length), last.openQuote),
  };
}

/** Joins words that bash split at break characters such as `:` and `=`. The program receives them as one argument. */
function joinParts(parts: readonly string[], breaks: string): readonly string[] {
  const words: string[] = [];
  let isAfterBreak = false;
  for (const part of parts) {
    const isBreak = part !== '' && Array.from(part).every((character) => breaks.includes(character));
    if (words.length > 0 && part !== '' && (isBreak || isAfterBreak)) words.push(`${words.pop()}${part}`);
    else words.push(part);
    isAfterBreak = isBreak;
  }
  return words;
}

/** Removes quotes and backslashes from a word as bash does. */
function parseWord(word: string, breaks: string): ParsedWord {
  let text = '';
  // The text before the last opening quote, and the text up to the last unquoted break character.
  let beforeQuote = '';
  let beforeBreak = '';
  let openQuote: OpenQuote = '';
  let isExpanded = false;
  for (let at = 0; at < word.length; at++) {
    const character = word.charAt(at);
    const next = word.charAt(at + 1);
    if (character === openQuote) openQuote = '';
    else if (openQuote === "'") text += character;
    // Outside of quotes, a backslash escapes every character. Inside double quotes, it escapes only these four.
    else if (character === '\\' && (openQuote === '' || /[$`"\\]/.test(next))) {
      text += next;
      at++;
    } else if (openQuote === '' && (character === "'" || character === '"')) {
      openQuote = character;
      beforeQuote = text;
    } else {
      text += character;
      isExpanded ||= character === '$' || character === '`';
      if (openQuote === '' && breaks.includes(character)) beforeBreak = text;
    }
  }
  return { text, openQuote, kept: openQuote === '' ? beforeBreak : beforeQuote, isExpanded };
}

/** Quotes a text for insertion outside of quotes or inside an open quote. Readline adds the closing quote. */
function quoteForBash(text: string, openQuote: OpenQuote): string {
  if (openQuote === '') return text.replaceAll(SPECIAL, String.raw`\$&`);
  const quoted =
    openQuote === "'"
      ? text.replaceAll("'", String.raw`'\''`)
      : // Inside double quotes, a backslash does not prevent history expansion of `!`, so the quotes are closed around `\!`.
        text.replaceAll(/[$`"\\]/g, String.raw`\$&`).replaceAll('!', String.raw`"\!"`);
  // If the text ends with a quote, readline takes it for the closing one and adds none, so the closing quote is added here.
  return quoted.endsWith(openQuote) ? quoted + openQuote : quoted;
}
