/** Splits a command line into words as a shell does, with quotes and backslashes but without expansion. Returns undefined if a quote is not closed. */
export function splitShellWords(line: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const char = line.charAt(at);
    if (quote === "'") {
      if (char === "'") quote = '';
      else word = (word ?? '') + char;
    } else if (quote === '"') {
      if (char === '"') quote = '';
      else if (char === '\\' && /["\\$`]/.test(line.charAt(at + 1))) word = (word ?? '') + line.charAt(++at);
      else word = (word ?? '') + char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= '';
    } else if (char === '\\') {
      word = (word ?? '') + line.charAt(++at);
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + char;
  }
  if (quote !== '') return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
