import { isCommandTitle } from './help-sections.ts';
import type { HelpSection } from './help-sections.ts';
import { indentWidth } from './plain-text.ts';

/** One entry of a list of subcommands. */
export interface ListedCommand {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
}

const MAX_COMMANDS = 400;
/** The maximum number of continuation lines of one description. */
const MAX_LINES = 5;
/** The minimum column of a continuation line; a line that starts further left may be another command. */
const MIN_COLUMN = 14;
/** Subcommands that are useless as tools. In addition, `help` accepts itself as a subcommand at any depth. */
const OMITTED = new Set(['help', 'completion', 'completions']);
export const COMMAND_NAME = /^[A-Za-z0-9][\w.:-]{0,63}$/;

/** A name, its aliases, its arguments, and after a gap or a dash its description. */
const ENTRY =
  /^ {1,12}([A-Za-z0-9][\w.-]*(?::[\w.-]+)*)((?:(?:, ?|\|)[A-Za-z0-9][\w.:-]*)*)[*:]?(?: [[<(]\S.*?| [A-Z][A-Z0-9_.|-]+(?: \S+){0,6}?(?= {2,}))?(?:(?: {2,}| [-\u2013] )(\S.*))?$/;
const NAMES = /^ {1,12}[\w.:-]+(?:, [\w.:-]+)*,?$/;
const BRACES = /^ *\{([\w.:-]+(?:,[\w.:-]+)*)\}(?: |$|\.)/;

/** Reads the subcommands that a help text lists, in its order. */
export function readCommands(sections: readonly HelpSection[]): readonly ListedCommand[] {
  const found = new Map<string, ListedCommand>();
  const add = (command: ListedCommand): void => {
    if (OMITTED.has(command.name) || !COMMAND_NAME.test(command.name)) return;
    if (found.size < MAX_COMMANDS && !found.has(command.name)) found.set(command.name, command);
  };
  const hasSubparsers = sections.some(
    ({ title, lines }) => /^usage/i.test(title) && /\} \.\.\./.test(lines.join(' ')),
  );
  for (const section of sections) {
    const isArguments = /^positional arguments/i.test(section.title);
    if (
      isCommandTitle(section.title) ||
      (isArguments && hasSubparsers) ||
      hasBraces(section, hasSubparsers)
    ) {
      for (const command of readSection(section.lines)) add(command);
    }
  }
  return [...found.values()];
}

function hasBraces({ title, lines }: HelpSection, hasSubparsers: boolean): boolean {
  return hasSubparsers && !/^usage/i.test(title) && lines.some((line) => BRACES.test(line));
}

function readSection(lines: readonly string[]): readonly ListedCommand[] {
  const braces = lines.flatMap((line) => BRACES.exec(line)?.[1]?.split(',') ?? []);
  const names = lines.filter((line) => NAMES.test(line));
  const isNameList =
    names.some((line) => line.includes(', ')) && names.length === lines.filter(isText).length;
  if (isNameList) {
    const all = names.flatMap((line) => line.trim().split(/,\s*/)).filter((name) => name !== '');
    return all.map((name) => ({ name, aliases: [], summary: '' }));
  }
  const entries = lines.flatMap((line, index) => {
    const [, name, more = '', first = ''] = ENTRY.exec(line) ?? [];
    if (name === undefined || (braces.length > 0 && !braces.includes(name))) return [];
    const aliases = more.split(/[,|]\s*/).filter((alias) => alias !== '');
    const summary =
      first === ''
        ? ''
        : [first.trim(), ...readContinuation(lines, index, line.length - first.length)].join(' ');
    return [{ name, aliases, summary, indent: indentWidth(line) }];
  });
  // Lines that are indented further continue a description.
  const margin = Math.min(...entries.map(({ indent }) => indent));
  const listed = entries.filter(({ indent }) => indent <= margin + 1);
  const known = new Set(listed.map(({ name }) => name));
  const undescribed = braces
    .filter((name) => !known.has(name))
    .map((name) => ({ name, aliases: [], summary: '' }));
  return [...listed.map(({ indent: _, ...command }) => command), ...undescribed];
}

/** Returns the next lines that start in the same column as the description. */
function readContinuation(lines: readonly string[], index: number, column: number): readonly string[] {
  const rest = lines.slice(index + 1, index + 1 + MAX_LINES);
  const end = rest.findIndex((line) => column < MIN_COLUMN || indentWidth(line) !== column || line === '');
  return rest.slice(0, end < 0 ? rest.length : end).map((line) => line.trim());
}

function isText(line: string): boolean {
  return line !== '';
}
