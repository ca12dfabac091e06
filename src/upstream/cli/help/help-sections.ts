import { indentWidth } from './plain-text.ts';

/** The lines under one heading; the lines before the first heading have an empty title. */
export interface HelpSection {
  readonly title: string;
  readonly lines: readonly string[];
}

const INLINE = /^ {0,2}(usage|aliases|alias|examples?)\s*:\s*(\S.*)$/i;
const WITH_COLON = /^ ?[^\s-][^.;]{0,78}:$/;
const CAPITALS = /^[A-Z][A-Z0-9 &/()'-]{2,60}$/;

/** Splits a help text at its headings. A line at the margin that is not a heading ends the section before it. */
export function splitSections(lines: readonly string[]): readonly HelpSection[] {
  const sections: { title: string; lines: string[] }[] = [{ title: '', lines: [] }];
  const open = (title: string, first?: string): void =>
    void sections.push({ title, lines: first === undefined ? [] : [first] });
  for (const [index, line] of lines.entries()) {
    const current = sections.at(-1);
    const [, word, rest] = INLINE.exec(line) ?? [];
    const next = lines[index + 1] ?? '';
    if (word !== undefined && rest !== undefined) open(word, `  ${rest}`);
    else if (isHeading(line, next)) open(line.trim().replace(/:$/, ''));
    else if (current !== undefined && line !== '' && endsSection(current, line, next)) open('', line);
    else current?.lines.push(line);
  }
  return sections;
}

function isHeading(line: string, next: string): boolean {
  if (WITH_COLON.test(line)) return true;
  if (CAPITALS.test(line)) return true;
  // A heading of a command list, such as "Main Porcelain Commands".
  return /^\w[\w /,-]*\bcommands?\b[^.:]*$/i.test(line) && indentWidth(next) > 0;
}

/** Returns whether a line ends its section. Usage lines, and group headings in a list of commands, may also start at the margin. */
function endsSection({ title, lines }: HelpSection, line: string, next: string): boolean {
  if (title === '') return false;
  if (/^usage/i.test(title)) {
    // Many option lists follow the usage directly, without a heading.
    if (indentWidth(line) <= 8 && /^\s*--?[A-Za-z]/.test(line)) return true;
    return lines.at(-1) === '' && lines.some((other) => other !== '');
  }
  if (indentWidth(line) > 0) return false;
  if (/^options/i.test(title) && line.startsWith('[')) return false;
  return !(isCommandTitle(title) && indentWidth(next) > 0);
}

export function isCommandTitle(title: string): boolean {
  return /\b(?:sub-?)?commands?\b/i.test(title) && !/\binterfaces?\b|\bformats?\b|\bexamples?\b/i.test(title);
}
