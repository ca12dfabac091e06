import { UNKNOWN_STYLE } from './cli-command.ts';
import type { CliArgument, CliCommand, CliStyle } from './cli-command.ts';
import { inheritStyle } from './help/help-style.ts';
import { buildHelpArgs } from './help/known-programs.ts';
import type { HelpCommand } from './help/known-programs.ts';
import { readHelp } from './help/read-help.ts';
import type { Help } from './help/read-help.ts';

export interface DiscoveryOptions {
  /** The name of the program, without folder and extension. */
  readonly program: string;
  /** Fixed arguments that the usage shows before every subcommand. */
  readonly words: readonly string[];
  readonly helpCommand: HelpCommand;
  /** The number of levels of subcommands whose help is read. */
  readonly depth: number;
  /** The commands to discover with their subcommands, as words such as `["config", "view"]`; empty for all. */
  readonly only: readonly (readonly string[])[];
  /** Runs the program with these arguments after the fixed ones; returns undefined if it did not print its help in time. */
  readonly readHelpText: (args: readonly string[]) => Promise<string | undefined>;
  /** Returns false after the deadline. */
  readonly hasTime: () => boolean;
}

interface DiscoveryResult {
  readonly commands: readonly CliCommand[];
  /** Whether a limit was reached before all help texts were read. */
  readonly isCut: boolean;
}

const MAX_TOOLS = 600;
const MAX_HELP_TEXTS = 500;
/** The number of help commands that run at the same time. */
const PARALLEL = 4;

interface CommandNode {
  readonly path: readonly string[];
  readonly summary: string;
  readonly style: CliStyle;
  /** The help of the parent command; a program that ignores the subcommand prints the same text again. */
  readonly parentHelp: string;
}

/** Reads the help of a program and of its subcommands, level by level. */
export async function discoverCommands(options: DiscoveryOptions): Promise<DiscoveryResult> {
  const commands: CliCommand[] = [];
  let helpTexts = 0;
  let isCut = false;
  let level: readonly CommandNode[] = [{ path: [], summary: '', style: UNKNOWN_STYLE, parentHelp: '' }];
  while (level.length > 0) {
    const texts = await mapParallel(level, async (node) => {
      if (!isHelpNeeded(node.path, options)) return undefined;
      if (helpTexts >= MAX_HELP_TEXTS || !options.hasTime()) {
        isCut = true;
        return undefined;
      }
      helpTexts++;
      return options.readHelpText(buildHelpArgs(options.helpCommand, node.path));
    });
    const next: CommandNode[] = [];
    for (const [index, node] of level.entries()) {
      const { command, children } = interpretHelp(node, texts[index], options);
      if (command !== undefined) commands.push(command);
      next.push(...children);
    }
    level = next;
    if (commands.length + level.length > MAX_TOOLS) {
      isCut = true;
      level = level.slice(0, Math.max(0, MAX_TOOLS - commands.length));
    }
  }
  return { commands, isCut };
}

/** Returns whether the help of a command must be read. For the commands in `only`, all parents are read, whatever the depth. */
function isHelpNeeded(path: readonly string[], { depth, only }: DiscoveryOptions): boolean {
  return path.length < depth || only.some((words) => words.length > path.length && startsWith(words, path));
}

/** Returns the command of a node, if it can be called and is selected, and the subcommands to read next. */
function interpretHelp(
  node: CommandNode,
  text: string | undefined,
  options: DiscoveryOptions,
): { readonly command?: CliCommand; readonly children: readonly CommandNode[] } {
  const { path } = node;
  const parsed =
    text === undefined
      ? undefined
      : readHelp(adaptHelpText(text, path, options), options.program, [...options.words, ...path]);
  // A text that is the same as that of the parent is used only if it is specific to this command.
  const help = text === node.parentHelp && parsed?.isSpecific !== true ? undefined : parsed;
  const style = inheritStyle(help?.style ?? UNKNOWN_STYLE, node.style);
  const children = findChildren(node, help, text ?? '', style, options);
  const isSelected = isAllowed(path, options.only);
  const hasCommands = (help?.commands.length ?? 0) > 0 || (path.length === 0 && children.length > 0);
  // A program with subcommands cannot be called without one. A subcommand with further subcommands can, if its usage says so.
  const isCallable = !hasCommands || (path.length > 0 && help?.runsAlone === true);
  if (!isSelected || !isCallable) return { children };
  const found = [help?.summary, node.summary].find((line) => line !== undefined && line !== '');
  const summary = found ?? (isHelpNeeded(path, options) && help?.isHelp !== true ? UNREADABLE_HELP : '');
  return { command: createCommand(path, summary, help, style), children };
}

/** Removes the part of a help text that is not about tools, and adds the extra help of known programs. */
function adaptHelpText(text: string, path: readonly string[], { helpCommand }: DiscoveryOptions): string {
  const { cutAt, extraHelp = {} } = helpCommand;
  const end = path.length === 0 && cutAt !== undefined ? text.indexOf(cutAt) : -1;
  const [name = '', ...rest] = path;
  const extra = rest.length === 0 && Object.hasOwn(extraHelp, name) ? extraHelp[name] : undefined;
  return (end < 0 ? text : text.slice(0, end)) + (extra === undefined ? '' : `\n${extra}`);
}

function findChildren(
  { path }: CommandNode,
  help: Help | undefined,
  parentHelp: string,
  style: CliStyle,
  { only, helpCommand }: DiscoveryOptions,
): readonly CommandNode[] {
  const listed = (help?.commands ?? []).filter(({ name }) => helpCommand.omit?.includes(name) !== true);
  const summaries = new Map(listed.map(({ name, summary }) => [name, summary]));
  // Adds the commands that `only` names, because they may be missing in the help text.
  for (const words of only) {
    const next = words[path.length];
    if (next !== undefined && startsWith(words, path) && !summaries.has(next)) summaries.set(next, '');
  }
  return [...summaries].flatMap(([name, summary]) => {
    const child = [...path, name];
    const isWanted = isAllowed(child, only) || only.some((words) => startsWith(words, child));
    return isWanted ? [{ path: child, summary, style, parentHelp }] : [];
  });
}

/** Returns whether `only` selects a command; it selects the named commands with all their subcommands. */
function isAllowed(path: readonly string[], only: readonly (readonly string[])[]): boolean {
  return only.length === 0 || only.some((words) => startsWith(path, words));
}

function startsWith(words: readonly string[], start: readonly string[]): boolean {
  return start.length <= words.length && start.every((word, index) => words[index] === word);
}

const UNREADABLE_HELP = 'The help of this command could not be read';

const ANY_ARGUMENTS: CliArgument = {
  name: 'args',
  value: { type: 'string' },
  isRequired: false,
  repeats: true,
  afterDashes: false,
  description: 'Arguments in the order of the command line, without options.',
};

function createCommand(
  path: readonly string[],
  summary: string,
  help: Help | undefined,
  style: CliStyle,
): CliCommand {
  const isKnown = help?.isHelp === true;
  return {
    path,
    summary,
    options: help?.options ?? [],
    arguments: isKnown ? help.arguments : [ANY_ARGUMENTS],
    children: (help?.commands ?? []).flatMap(({ name, aliases }) => [name, ...aliases]),
    style,
  };
}

/** Maps the items with `PARALLEL` workers, which share one iterator; the results keep the order of the items. */
async function mapParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results;
}
