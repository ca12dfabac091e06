/** A text as one word of a shell, for commands that people copy; the paths of Windows stay as they are typed there. */
export function shellWord(text: string): string {
  const isPlain = /^(?:[\w@%+=:,./-]+|[A-Za-z]:\\[\w@%+=:,./\\-]*)$/.test(text);
  return isPlain ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
