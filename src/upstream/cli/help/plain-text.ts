/** Longer help texts are cut; the longest known ones have a few hundred kilobytes. */
export const MAX_HELP_CHARS = 256 * 1024;
const MAX_LINES = 8_000;
const MAX_LINE_CHARS = 2_000;
const TAB_WIDTH = 8;

/** Converts a help text to lines of plain text, without escape sequences, overstrikes of manual pages, tabs and control characters. */
export function toPlainLines(text: string): readonly string[] {
  const plain = text
    .slice(0, MAX_HELP_CHARS)
    .replaceAll(/\r\n?/g, '\n')
    // Manual pages print bold and underlined text as a character, a backspace and another character.
    .replaceAll(/[^\n\u0008]\u0008/g, '')
    .replaceAll(/\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g, '')
    .replaceAll(/\u001b\[[0-9;:?]*[ -/]*[@-~]/g, '')
    .replaceAll(/\u001b[@-_a-z]/g, '')
    .replaceAll(/[^\P{Cc}\n\t]/gu, '')
    .replaceAll(/[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, '')
    .replaceAll('\u00a0', ' ');
  return plain.split('\n', MAX_LINES).map((line) => expandTabs(line.slice(0, MAX_LINE_CHARS)).trimEnd());
}

export function indentWidth(line: string): number {
  return line.length - line.trimStart().length;
}

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let expanded = '';
  for (const char of line)
    expanded += char === '\t' ? ' '.repeat(TAB_WIDTH - (expanded.length % TAB_WIDTH)) : char;
  return expanded;
}
