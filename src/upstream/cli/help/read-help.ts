import type { CliArgument, CliOption, CliStyle } from '../cli-command.ts';
import { helpSections } from './help-sections.ts';
import type { HelpSection } from './help-sections.ts';
import { helpStyle } from './help-style.ts';
import { indentOf, plainLines } from './plain-text.ts';
import { COMMAND_NAME, readCommands } from './read-commands.ts';
import type { ListedCommand } from './read-commands.ts';
import { MAX_OPTIONS, readOptions } from './read-options.ts';
import { readUsage } from './read-usage.ts';
import type { Usage } from './read-usage.ts';
import { usageLines } from './usage-lines.ts';

/** What a help text says of one command. */
export interface Help {
  readonly summary: string;
  readonly commands: readonly ListedCommand[];
  readonly options: readonly CliOption[];
  readonly arguments: readonly CliArgument[];
  /** It has subcommands and does something without one. */
  readonly runsAlone: boolean;
  readonly style: CliStyle;
  /** Its usage speaks of this very command, and no list speaks of others. */
  readonly isAboutIt: boolean;
  /** Whether there was anything to understand. */
  readonly isHelp: boolean;
}

const MAX_SUMMARY = 500;
/** What programs say that cannot help here, such as git outside of a repository, or that know no `--help`. */
const FAILURE =
  /^(?:[\w./-]+: ){0,3}(?:(?:fatal|error|panic|traceback)\b|(?:unknown|unrecogni[sz]ed|invalid|illegal|bad|unsupported|unexpected|ambiguous|no such) (?:sub)?(?:command|option|flag|argument|switch|file)\b|(?:cannot|can't|could not|unable to|failed to)\b|permission denied\b|option [^\n]*\b(?:requires|not recogni[sz]ed|unknown)\b|'[^']*' is not an? )/i;
/** Words that stand for something, however they are written: `bash [option] script-file`. */
const ARGUMENT_WORD =
  /^(?:[a-z]+-)?(?:file|filename|path|script|dir|directory|folder|host|hostname|url|pattern|expression|string|number|arguments?|args?)s?$/;
/** Of the program as a whole, or of its help. */
const NO_SUMMARY =
  /^(?:this program built|report bugs|try ['"`]|this is not the full help|options starting|copyright\b|\S+ v?\d+\.\d[\w.+-]*(?: \([^)]*\))?$)/i;
/** A list of options below a heading that is not marked as one. */
const OPTION_LIST = /^[^\n]*\n[ \t]+--?\w/;

/** Reads a help text. `words` are the fixed arguments and the subcommand that it was asked for. */
export function readHelp(text: string, program: string, words: readonly string[]): Help {
  const lines = withoutComplaint(plainLines(text), program);
  const sections = helpSections(lines);
  const known = describedArguments(sections);
  const shown = usageLines(sections, program);
  const usages = shown.flatMap((line) => readUsage(line, words, known) ?? []);
  const listedOptions = readOptions(sections);
  const listed = readCommands(sections);
  const spoken = listed.length === 0 ? wordsAsCommands(usages) : [];
  const own = usages.filter(({ word }) => word === undefined || spoken.length === 0);
  const commands = [...listed, ...spoken];
  const isHelp = commands.length > 0 || listedOptions.length > 0 || usages.length > 0;
  return {
    // A text that shows no way to call the program is rather a complaint.
    summary: isHelp ? summaryOf(sections, program) : '',
    commands,
    options: merged(
      listedOptions,
      npmOptions(sections),
      own.flatMap(({ options }) => options),
    ),
    arguments: commands.length > 0 ? [] : argumentsOf(own, shown),
    runsAlone:
      commands.length > 0 &&
      own.some(
        ({ wantsCommand, isUnclear, arguments: rest }) => !wantsCommand && !isUnclear && rest.length === 0,
      ),
    style: helpStyle(lines.join('\n'), program),
    isAboutIt: usages.length > 0 && listed.length === 0,
    isHelp,
  };
}

/** Whoever was not understood may list what was meant, which is no help for what was asked. */
function withoutComplaint(lines: readonly string[], program: string): readonly string[] {
  const first = lines.find((line) => line.trim() !== '') ?? '';
  return FAILURE.test(first.trim()) && usageLines(helpSections(lines), program).length === 0 ? [] : lines;
}

/** `git remote add …`, `git remote remove …`: subcommands that only the usage shows. */
function wordsAsCommands(usages: readonly Usage[]): readonly ListedCommand[] {
  const names = [...new Set(usages.flatMap(({ word }) => word ?? []))].filter((name) =>
    COMMAND_NAME.test(name),
  );
  if (usages.length < 2 || names.includes('help')) return [];
  // One alone may as well be a way to call the program itself.
  const [only = ''] = names;
  if (
    names.length < 2 &&
    (ARGUMENT_WORD.test(only) ||
      usages.some(({ word, arguments: rest }) => word === undefined && rest.length > 0))
  )
    return [];
  return names.map((name) => ({ name, aliases: [], summary: '' }));
}

/** One way to call it has arguments with names; several have a list that is explained by the usage. */
function argumentsOf(usages: readonly Usage[], shown: readonly string[]): readonly CliArgument[] {
  const clear = usages.map((usage): Usage => {
    if (usage.word === undefined) return usage;
    const { word, ...rest } = usage;
    return { ...rest, arguments: [placeholder(word), ...usage.arguments] };
  });
  const ways = new Map(
    clear.map((usage) => [usage.arguments.map(({ name, repeats }) => `${name}${repeats}`).join(' '), usage]),
  );
  const [only] = ways.values();
  const isClear = clear.every(({ isUnclear }) => !isUnclear) && clear.length > 0;
  if (isClear && ways.size === 1 && only !== undefined) {
    return only.wantsCommand ? [freeArguments(shown)] : inOrder(only.arguments, shown);
  }
  return [freeArguments(shown, clear)];
}

/** Only the last argument can be repeated; everything else could not be told apart. */
function inOrder(all: readonly CliArgument[], shown: readonly string[]): readonly CliArgument[] {
  const at = all.findIndex(({ repeats }, index) => repeats && index < all.length - 1);
  if (at < 0) return all;
  const behindDashes = all.slice(at + 1).every(({ afterDashes }) => afterDashes);
  return behindDashes && all[at]?.afterDashes === false ? all : [freeArguments(shown)];
}

function freeArguments(shown: readonly string[], usages: readonly Usage[] = []): CliArgument {
  const usage = shown.slice(0, 6).join('; ').slice(0, 500);
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

function placeholder(word: string): CliArgument {
  return {
    name: word.replaceAll('-', '_'),
    value: { type: 'string' },
    isRequired: true,
    repeats: false,
    afterDashes: false,
    description: '',
  };
}

/** Names and texts of arguments that have a list of their own. */
function describedArguments(sections: readonly HelpSection[]): ReadonlyMap<string, string> {
  const known = new Map<string, string>();
  for (const { title, lines } of sections) {
    if (!/^(?:positional )?(?:arguments|args|parameters)$/i.test(title)) continue;
    for (const line of lines.slice(0, 200)) {
      const [, name, text = ''] =
        /^ {1,8}[[<]*([A-Za-z][\w./-]*)[\]>]*(?:\.\.\.)?\]?(?: {2,}(\S.*))?$/.exec(line) ?? [];
      if (name !== undefined) known.set(name, text.trim());
    }
  }
  return known;
}

/** What npm writes as usage under "Options", where values are shown. */
function npmOptions(sections: readonly HelpSection[]): readonly CliOption[] {
  const lines = sections
    .filter(({ title }) => /^options$/i.test(title))
    .flatMap((section) => section.lines.filter((line) => line.startsWith('[')));
  if (lines.length === 0) return [];
  return readUsage(`program ${lines.join(' ')}`.slice(0, 8_000), [], new Map())?.options ?? [];
}

/** The list has the descriptions, npm's own usage knows the values, and any usage may have options that no list has. */
function merged(
  listed: readonly CliOption[],
  detailed: readonly CliOption[],
  shown: readonly CliOption[],
): readonly CliOption[] {
  const all = new Map(listed.map((option) => [option.flag, option]));
  const names = new Map(listed.flatMap(({ flag, aliases = [] }) => aliases.map((alias) => [alias, flag])));
  for (const option of [...detailed, ...shown]) {
    const flag = names.get(option.flag) ?? option.flag;
    const before = all.get(flag);
    if (before === undefined && all.size < MAX_OPTIONS) all.set(flag, option);
    else if (before?.value === undefined && option.value !== undefined && detailed.includes(option))
      all.set(flag, { ...option, flag, description: before?.description ?? '' });
    else if (before !== undefined && before.value === undefined && option.off !== undefined)
      all.set(flag, { ...before, off: before.off ?? option.off });
  }
  return [...all.values()];
}

/** The first sentences that are neither usage nor a heading. */
function summaryOf(sections: readonly HelpSection[], program: string): string {
  const described = sections.filter(({ title }) => title === '' || /^description|^usage/i.test(title));
  const paragraphs = described.flatMap(({ title, lines }) => {
    const prose = /^usage/i.test(title) ? afterUsage(lines, program) : lines;
    return prose
      .join('\n')
      .split(/\n\s*\n/)
      .filter((text) => indentOf(text.replace(/^\n+/, '')) <= 2);
  });
  const isProse = (text: string): boolean =>
    /[A-Za-z]{3}/.test(text) && !/^\s*(?:-|\[|usage\b|npm (?:warn|notice)|run '|use "|see )/i.test(text);
  const first = paragraphs
    .map((text) => text.replace(/^npm (?:warn|notice).*$/gim, '').trim())
    .find(
      (text) =>
        text !== '' && isProse(text) && ![FAILURE, NO_SUMMARY, OPTION_LIST].some((no) => no.test(text)),
    );
  return (first ?? '').replaceAll(/\s+/g, ' ').trim().slice(0, MAX_SUMMARY);
}

/** GNU programs describe themselves at the margin, right below the usage. */
function afterUsage(lines: readonly string[], program: string): readonly string[] {
  return lines.filter(
    (line, at) =>
      at > 0 && indentOf(line) === 0 && line !== '' && !line.startsWith(program) && !/^ *or:/.test(line),
  );
}
