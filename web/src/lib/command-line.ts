/** What no shell replaces, takes apart or runs; `=` at the start is the path of a program to zsh. */
const PLAIN = /^[\p{L}\p{N}_@%+:,./•-][\p{L}\p{N}_@%+=:,./•-]*$/u;

/** Words as a POSIX shell takes them literally: nothing in them is ever replaced or run when the line is pasted into one. */
export function joinCommand(words: readonly string[]): string {
  return words.map((word, at) => (isPlain(word, at) ? word : quoted(word))).join(' ');
}

/** The words of a command line, with quotes and backslashes as in a shell; nothing is replaced or run. */
export function splitCommand(text: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? '';
    const next = text[at + 1] ?? '';
    if (character === '\\' && isEscape(quote, next)) {
      word = (word ?? '') + next;
      at += 1;
    } else if (quote !== '') {
      if (character === quote) quote = '';
      else word = (word ?? '') + character;
    } else if (character === '"' || character === "'") {
      quote = character;
      word ??= '';
    } else if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + character;
  }
  return word === undefined ? words : [...words, word];
}

/** Only what would mean something else is freed of its meaning, so that paths of Windows stay what they are. */
function isEscape(quote: string, next: string): boolean {
  if (quote === "'") return false;
  return quote === '"' ? next === '"' || next === '\\' : /[\s"'\\]/.test(next);
}

/** In front, a word with `=` would set a variable instead of naming a program. */
function isPlain(word: string, at: number): boolean {
  return PLAIN.test(word) && (at > 0 || !word.includes('='));
}

/** Between single quotes nothing has a meaning but the quote itself. */
function quoted(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
