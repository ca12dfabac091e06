import { indentOf } from './plain-text.ts';

/** Lines under one heading; the lines before the first heading have an empty title. */
export interface HelpSection {
  readonly title: string;
  readonly lines: readonly string[];
}

const INLINE = /^ {0,2}(usage|aliases|alias|examples?)\s*:\s*(\S.*)$/i;
const WITH_COLON = /^ ?[^\s-][^.;]{0,78}:$/;
const CAPITALS = /^[A-Z][A-Z0-9 &/()'-]{2,60}$/;

/** Cuts a help text at its headings. A line at the margin that is none ends the section before it. */
export function helpSections(lines: readonly string[]): readonly HelpSection[] {
  const sections: { title: string; lines: string[] }[] = [{ title: '', lines: [] }];
  const open = (title: string, first?: string): void =>
    void sections.push({ title, lines: first === undefined ? [] : [first] });
  for (const [at, line] of lines.entries()) {
    const current = sections.at(-1);
    const [, word, rest] = INLINE.exec(line) ?? [];
    const next = lines[at + 1] ?? '';
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
  // Lists of commands under words such as "Main Porcelain Commands".
  return /^\w[\w /,-]*\bcommands?\b[^.:]*$/i.test(line) && indentOf(next) > 0;
}

/** Usage lines may stand at the margin; so may the headings of groups inside a list of commands. */
function endsSection({ title, lines }: HelpSection, line: string, next: string): boolean {
  if (title === '') return false;
  if (/^usage/i.test(title)) {
    // Many lists of options stand right below the usage, without a heading.
    if (indentOf(line) <= 8 && /^\s*--?[A-Za-z]/.test(line)) return true;
    return lines.at(-1) === '' && lines.some((one) => one !== '');
  }
  if (indentOf(line) > 0) return false;
  if (/^options/i.test(title) && line.startsWith('[')) return false;
  return !(isCommandTitle(title) && indentOf(next) > 0);
}

export function isCommandTitle(title: string): boolean {
  return /\b(?:sub-?)?commands?\b/i.test(title) && !/\binterfaces?\b|\bformats?\b|\bexamples?\b/i.test(title);
}
