import type { CliArgument, CliOption, CliStyle } from '../cli-command.ts';
import { splitSections } from './help-sections.ts';
import type { HelpSection } from './help-sections.ts';
import { detectParserStyle } from './help-style.ts';
import { indentWidth, toPlainLines } from './plain-text.ts';
import { COMMAND_NAME, readCommands } from './read-commands.ts';
import type { ListedCommand } from './read-commands.ts';
import { MAX_OPTIONS, readOptions } from './read-options.ts';
import { findUsageLines, readUsage } from './read-usage.ts';
import type { Usage } from './read-usage.ts';

/** The content of a help text about one command. */
export interface Help {
  readonly summary: string;
  readonly commands: readonly ListedCommand[];
  readonly options: readonly CliOption[];
  readonly arguments: readonly CliArgument[];
  /** Whether the command has subcommands and can also be called without one. */
  readonly runsAlone: boolean;
  readonly style: CliStyle;
  /** Whether the usage is about this command and the text lists no subcommands. */
  readonly isSpecific: boolean;
  /** Whether anything in the text was recognised as help. */
  readonly isHelp: boolean;
}

const MAX_SUMMARY = 500;
/** Error messages of programs that print no help, such as git outside of a repository, or that do not know `--help`. */
const ERROR_OUTPUT =
  /^(?:[\w./-]+: ){0,3}(?:(?:fatal|error|panic|traceback)\b|(?:unknown|unrecogni[sz]ed|invalid|illegal|bad|unsupported|unexpected|ambiguous|no such) (?:sub)?(?:command|option|flag|argument|switch|file)\b|(?:cannot|can't|could not|unable to|failed to)\b|permission denied\b|option [^\n]*\b(?:requires|not recogni[sz]ed|unknown)\b|'[^']*' is not an? )/i;
/** Placeholders that look like plain words, as in `bash [option] script-file`. */
const ARGUMENT_WORD =
  /^(?:[a-z]+-)?(?:file|filename|path|script|dir|directory|folder|host|hostname|url|pattern|expression|string|number|arguments?|args?)s?$/;
/** Lines about the version, the licence or the help itself, which are not a summary. */
const NO_SUMMARY =
  /^(?:this program built|report bugs|try ['"`]|this is not the full help|options starting|copyright\b|\S+ v?\d+\.\d[\w.+-]*(?: \([^)]*\))?$)/i;
/** A paragraph whose second line is an option, so it is an option list under an unrecognised heading. */
const OPTION_LIST = /^[^\n]*\n[ \t]+--?\w/;

/** Reads a help text. `words` are the fixed arguments and the subcommand that it was printed for. */
export function readHelp(text: string, program: string, words: readonly string[]): Help {
  const lines = dropErrorOutput(toPlainLines(text), program);
  const sections = splitSections(lines);
  const descriptions = readArgumentDescriptions(sections);
  const usageLines = findUsageLines(sections, program);
  const usages = usageLines.flatMap((line) => readUsage(line, words, descriptions) ?? []);
  const listedOptions = readOptions(sections);
  const listedCommands = readCommands(sections);
  const usageCommands = listedCommands.length === 0 ? commandsFromUsage(usages) : [];
  const ownUsages = usages.filter(({ word }) => word === undefined || usageCommands.length === 0);
  const commands = [...listedCommands, ...usageCommands];
  const isHelp = commands.length > 0 || listedOptions.length > 0 || usages.length > 0;
  return {
    // A text without usage, options and commands is probably an error message.
    summary: isHelp ? readSummary(sections, program) : '',
    commands,
    options: mergeOptions(
      listedOptions,
      readNpmOptions(sections),
      ownUsages.flatMap(({ options }) => options),
    ),
    arguments: commands.length > 0 ? [] : readArguments(ownUsages, usageLines),
    runsAlone:
      commands.length > 0 &&
      ownUsages.some(
        ({ wantsCommand, isUnclear, arguments: rest }) => !wantsCommand && !isUnclear && rest.length === 0,
      ),
    style: detectParserStyle(lines.join('\n'), program),
    isSpecific: usages.length > 0 && listedCommands.length === 0,
    isHelp,
  };
}

/** Drops an error message, which may list similar commands that look like help. */
function dropErrorOutput(lines: readonly string[], program: string): readonly string[] {
  const first = lines.find((line) => line.trim() !== '') ?? '';
  return ERROR_OUTPUT.test(first.trim()) && findUsageLines(splitSections(lines), program).length === 0
    ? []
    : lines;
}

/** Finds subcommands that only the usage shows, as in `git remote add …` and `git remote remove …`. */
function commandsFromUsage(usages: readonly Usage[]): readonly ListedCommand[] {
  const names = [...new Set(usages.flatMap(({ word }) => word ?? []))].filter((name) =>
    COMMAND_NAME.test(name),
  );
  if (usages.length < 2 || names.includes('help')) return [];
  // A single word may be an argument instead of a subcommand.
  const [only = ''] = names;
  if (
    names.length < 2 &&
    (ARGUMENT_WORD.test(only) ||
      usages.some(({ word, arguments: rest }) => word === undefined && rest.length > 0))
  )
    return [];
  return names.map((name) => ({ name, aliases: [], summary: '' }));
}

/** Returns named arguments if all usages agree on them, else one free list whose description quotes the usage. */
function readArguments(usages: readonly Usage[], usageLines: readonly string[]): readonly CliArgument[] {
  const complete = usages.map((usage): Usage => {
    const { word } = usage;
    if (word === undefined) return usage;
    return { ...usage, word: undefined, arguments: [wordArgument(word), ...usage.arguments] };
  });
  const variants = new Map(
    complete.map((usage) => [
      usage.arguments.map(({ name, repeats }) => `${name}${repeats}`).join(' '),
      usage,
    ]),
  );
  const [only] = variants.values();
  const isClear = complete.every(({ isUnclear }) => !isUnclear) && complete.length > 0;
  if (isClear && variants.size === 1 && only !== undefined) {
    return only.wantsCommand ? [freeArguments(usageLines)] : checkRepeats(only.arguments, usageLines);
  }
  return [freeArguments(usageLines, complete)];
}

/**
 * Returns the arguments, or one free list if values could not be assigned to them: only the last argument, or the last one before `--`,
 * can be repeated.
 */
function checkRepeats(all: readonly CliArgument[], usageLines: readonly string[]): readonly CliArgument[] {
  const repeated = all.findIndex(({ repeats }, index) => repeats && index < all.length - 1);
  if (repeated < 0) return all;
  const isRestAfterDashes = all.slice(repeated + 1).every(({ afterDashes }) => afterDashes);
  const isUnambiguous = isRestAfterDashes && all[repeated]?.afterDashes === false;
  return isUnambiguous ? all : [freeArguments(usageLines)];
}

function freeArguments(usageLines: readonly string[], usages: readonly Usage[] = []): CliArgument {
  const usage = usageLines.slice(0, 6).join('; ').slice(0, 500);
  return {
    name: 'args',
    value: { type: 'string' },
    isRequired: false,
    repeats: true,
    afterDashes:
      usages.length > 0 &&
      usages.every(({ arguments: all }) => all.length > 0 && all.every(({ afterDashes }) => afterDashes)),
    description: `Arguments in the order of the command line, without options${usage === '' ? '' : `: ${usage}`}`,
  };
}

function wordArgument(word: string): CliArgument {
  return {
    name: word.replaceAll('-', '_'),
    value: { type: 'string' },
    isRequired: true,
    repeats: false,
    afterDashes: false,
    description: '',
  };
}

/** Reads the descriptions of arguments from their own section, by name. */
function readArgumentDescriptions(sections: readonly HelpSection[]): ReadonlyMap<string, string> {
  const descriptions = new Map<string, string>();
  for (const { title, lines } of sections) {
    if (!/^(?:positional )?(?:arguments|args|parameters)$/i.test(title)) continue;
    for (const line of lines.slice(0, 200)) {
      const [, name, text = ''] =
        /^ {1,8}[[<]*([A-Za-z][\w./-]*)[\]>]*(?:\.\.\.)?\]?(?: {2,}(\S.*))?$/.exec(line) ?? [];
      if (name !== undefined) descriptions.set(name, text.trim());
    }
  }
  return descriptions;
}

/** Reads the options that npm prints in usage syntax under "Options"; only this syntax shows their values. */
function readNpmOptions(sections: readonly HelpSection[]): readonly CliOption[] {
  const lines = sections
    .filter(({ title }) => /^options$/i.test(title))
    .flatMap((section) => section.lines.filter((line) => line.startsWith('[')));
  if (lines.length === 0) return [];
  return readUsage(`program ${lines.join(' ')}`.slice(0, 8_000), [], new Map())?.options ?? [];
}

/** Merges options: the list has descriptions, npm's syntax has values, and a usage may have options that are not listed. */
function mergeOptions(
  listed: readonly CliOption[],
  detailed: readonly CliOption[],
  fromUsage: readonly CliOption[],
): readonly CliOption[] {
  const all = new Map(listed.map((option) => [option.flag, option]));
  const names = new Map(listed.flatMap(({ flag, aliases = [] }) => aliases.map((alias) => [alias, flag])));
  for (const option of [...detailed, ...fromUsage]) {
    const flag = names.get(option.flag) ?? option.flag;
    const existing = all.get(flag);
    if (existing === undefined && all.size < MAX_OPTIONS) all.set(flag, option);
    else if (existing?.value === undefined && option.value !== undefined && detailed.includes(option))
      all.set(flag, { ...option, flag, description: existing?.description ?? '' });
    else if (existing !== undefined && existing.value === undefined && option.off !== undefined)
      all.set(flag, { ...existing, off: existing.off ?? option.off });
  }
  return [...all.values()];
}

/** Returns the first paragraph of prose that is neither usage nor a heading. */
function readSummary(sections: readonly HelpSection[], program: string): string {
  const described = sections.filter(({ title }) => title === '' || /^description|^usage/i.test(title));
  const paragraphs = described.flatMap(({ title, lines }) => {
    const prose = /^usage/i.test(title) ? afterUsage(lines, program) : lines;
    return prose
      .join('\n')
      .split(/\n\s*\n/)
      .filter((text) => indentWidth(text.replace(/^\n+/, '')) <= 2);
  });
  const isProse = (text: string): boolean =>
    /[A-Za-z]{3}/.test(text) && !/^\s*(?:-|\[|usage\b|npm (?:warn|notice)|run '|use "|see )/i.test(text);
  const first = paragraphs
    .map((text) => text.replace(/^npm (?:warn|notice).*$/gim, '').trim())
    .find(
      (text) =>
        text !== '' &&
        isProse(text) &&
        ![ERROR_OUTPUT, NO_SUMMARY, OPTION_LIST].some((pattern) => pattern.test(text)),
    );
  return (first ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUMMARY);
}

/** Returns the description that GNU programs print at the margin, directly after the usage. */
function afterUsage(lines: readonly string[], program: string): readonly string[] {
  return lines.filter(
    (line, index) =>
      index > 0 &&
      indentWidth(line) === 0 &&
      line !== '' &&
      !line.startsWith(program) &&
      !/^ *or:/.test(line),
  );
}
