import { UNKNOWN_STYLE } from './cli-command.ts';
import type { CliArgument, CliCommand, CliStyle } from './cli-command.ts';
import { inheritedStyle } from './help/help-style.ts';
import { helpArgs } from './help/known-programs.ts';
import type { HelpCall } from './help/known-programs.ts';
import { readHelp } from './help/read-help.ts';
import type { Help } from './help/read-help.ts';

export interface DiscoveryOptions {
  /** The name of the program, without folder and extension. */
  readonly program: string;
  /** Fixed arguments that the usage shows before every subcommand. */
  readonly words: readonly string[];
  readonly call: HelpCall;
  /** So many levels of help are read. */
  readonly depth: number;
  /** Commands as words, such as `["config", "view"]`; with everything below them. Empty for all. */
  readonly only: readonly (readonly string[])[];
  /** What the program prints for these arguments, behind the fixed ones; undefined where it said nothing in time. */
  readonly ask: (args: readonly string[]) => Promise<string | undefined>;
  /** Whether there is still time. */
  readonly hasTime: () => boolean;
}

export interface Discovery {
  readonly commands: readonly CliCommand[];
  /** It ended before everything was read. */
  readonly isCut: boolean;
}

const MAX_TOOLS = 600;
const MAX_ASKED = 500;
const PARALLEL = 4;

interface Node {
  readonly path: readonly string[];
  readonly summary: string;
  readonly style: CliStyle;
  /** The help of the command above; a program that ignores what it is asked for says the same again. */
  readonly above: string;
}

/** Walks through the help of a program, from its own to that of its subcommands, level by level. */
export async function discover(options: DiscoveryOptions): Promise<Discovery> {
  const commands: CliCommand[] = [];
  let asked = 0;
  let isCut = false;
  let level: readonly Node[] = [{ path: [], summary: '', style: UNKNOWN_STYLE, above: '' }];
  while (level.length > 0) {
    const readings = await inParallel(level, async (node) => {
      if (!isRead(node.path, options)) return undefined;
      if (asked >= MAX_ASKED || !options.hasTime()) {
        isCut = true;
        return undefined;
      }
      asked++;
      return options.ask(helpArgs(options.call, node.path));
    });
    const next: Node[] = [];
    for (const [at, node] of level.entries()) {
      const found = understand(node, readings[at], options);
      if (found.command !== undefined) commands.push(found.command);
      next.push(...found.below);
    }
    level = next;
    if (commands.length + level.length > MAX_TOOLS) {
      isCut = true;
      level = level.slice(0, Math.max(0, MAX_TOOLS - commands.length));
    }
  }
  return { commands, isCut };
}

/** What `only` names is always read as far as it goes, however few levels are wanted. */
function isRead(path: readonly string[], { depth, only }: DiscoveryOptions): boolean {
  return path.length < depth || only.some((words) => words.length > path.length && begins(words, path));
}

function understand(
  node: Node,
  text: string | undefined,
  options: DiscoveryOptions,
): { readonly command?: CliCommand; readonly below: readonly Node[] } {
  const { path } = node;
  const read =
    text === undefined
      ? undefined
      : readHelp(completed(text, path, options), options.program, [...options.words, ...path]);
  // One text for all subcommands is good for those that its usage shows.
  const help = text === node.above && read?.isAboutIt !== true ? undefined : read;
  const style = inheritedStyle(help?.style ?? UNKNOWN_STYLE, node.style);
  const below = childrenOf(node, help, text ?? '', style, options);
  const isOffered = isAllowed(path, options.only);
  const hasCommands = (help?.commands.length ?? 0) > 0 || (path.length === 0 && below.length > 0);
  // A program with subcommands is not called without one; a subcommand is where its usage says so.
  const isCallable = !hasCommands || (path.length > 0 && help?.runsAlone === true);
  if (!isOffered || !isCallable) return { below };
  const known = [help?.summary, node.summary].find((each) => each !== undefined && each !== '');
  const summary = known ?? (isRead(path, options) && help?.isHelp !== true ? UNREAD : '');
  return { command: commandOf(path, summary, help, style), below };
}

/** Without what is not for tools, with what is known besides. */
function completed(text: string, path: readonly string[], { call }: DiscoveryOptions): string {
  const at = path.length === 0 && call.cutAt !== undefined ? text.indexOf(call.cutAt) : -1;
  const [name = '', ...below] = path;
  const more = below.length === 0 && Object.hasOwn(call.more ?? {}, name) ? call.more?.[name] : undefined;
  return (at < 0 ? text : text.slice(0, at)) + (more === undefined ? '' : `\n${more}`);
}

function childrenOf(
  { path }: Node,
  help: Help | undefined,
  above: string,
  style: CliStyle,
  { only, call }: DiscoveryOptions,
): readonly Node[] {
  const listed = (help?.commands ?? []).filter(({ name }) => call.leaveOut?.includes(name) !== true);
  const summaries = new Map(listed.map(({ name, summary }) => [name, summary]));
  // What `only` names may be hidden from the list.
  for (const words of only) {
    const next = words[path.length];
    if (next !== undefined && begins(words, path) && !summaries.has(next)) summaries.set(next, '');
  }
  return [...summaries].flatMap(([name, summary]) => {
    const child = [...path, name];
    const isWanted = isAllowed(child, only) || only.some((words) => begins(words, child));
    return isWanted ? [{ path: child, summary, style, above }] : [];
  });
}

/** A command is allowed with everything below it. */
function isAllowed(path: readonly string[], only: readonly (readonly string[])[]): boolean {
  return only.length === 0 || only.some((words) => begins(path, words));
}

function begins(words: readonly string[], start: readonly string[]): boolean {
  return start.length <= words.length && start.every((word, at) => words[at] === word);
}

const UNREAD = 'Its help could not be read';

const ANY_ARGUMENTS: CliArgument = {
  name: 'args',
  value: { type: 'string' },
  isRequired: false,
  repeats: true,
  afterDashes: false,
  description: 'Arguments in the order of the command line, without options.',
};

function commandOf(
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

async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const worker = async (): Promise<void> => {
    for (const [at, item] of entries) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return results;
}
