/** Matches words that no shell expands, splits or executes. A leading `=` is excluded, because zsh expands it to a program's path. */
const PLAIN_WORD = /^[\p{L}\p{N}_@%+:,./•-][\p{L}\p{N}_@%+=:,./•-]*$/u;

/** Joins words to a command line that a POSIX shell splits into exactly these words, without expanding or executing anything. */
export function joinCommand(words: readonly string[]): string {
  return words.map((word, index) => (needsNoQuotes(word, index) ? word : quote(word))).join(' ');
}

/** Whether a word is safe without quotes. A first word with `=` is not, because it would set a variable instead of naming a program. */
function needsNoQuotes(word: string, index: number): boolean {
  return PLAIN_WORD.test(word) && (index > 0 || !word.includes('='));
}

/** Quotes a word with single quotes, inside which only the single quote itself is special. */
function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Splits a command line into words, with quotes and backslashes as in a shell; expands and executes nothing. */
export function splitCommand(text: string): readonly string[] {
  const words: string[] = [];
  // Undefined between words. An empty string is a word that was written as an empty pair of quotes.
  let word: string | undefined;
  let openQuote = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    const next = text[index + 1] ?? '';
    if (character === '\\' && isEscape(openQuote, next)) {
      word = (word ?? '') + next;
      index += 1;
    } else if (openQuote !== '') {
      if (character === openQuote) openQuote = '';
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      openQuote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  return word === undefined ? words : [...words, word];
}

/** Whether a backslash escapes the next character. It escapes only special characters, so that Windows paths need no escaping. */
function isEscape(openQuote: string, next: string): boolean {
  if (openQuote === "'") return false;
  return openQuote === '"' ? next === '"' || next === '\\' : /[\s"'\\]/.test(next);
}
