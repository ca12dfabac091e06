/** Quotes a text as one word of a POSIX shell, for commands that people copy. Windows paths stay as they are. */
export function quoteShellWord(text: string): string {
  const isPlain = /^(?:[\w@%+=:,./-]+|[A-Za-z]:\\[\w@%+=:,./\\-]*)$/.test(text);
  return isPlain ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
