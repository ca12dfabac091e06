import type { Command, Option } from 'commander';
import type { CachedNames } from '../../app/read-cached-names.ts';
import { findConfig, resolveLocations, resolveStateDir } from '../../config/find-config.ts';
import type { ExitCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { isArgumentWord } from './call/typed-arguments.ts';
import { readBashWords } from './complete/bash-words.ts';

interface Candidate {
  readonly text: string;
  readonly about?: string | undefined;
}

type LoadNames = () => Promise<CachedNames>;

const TOOL_COMMANDS = new Set(['call', 'describe', 'why', 'preflight']);
const SERVER_COMMANDS = new Set(['remove', 'enable', 'disable']);

export interface CompleteOptions {
  /** The value of COMP_WORDBREAKS, if bash asks. The words then come from COMP_WORDS, and candidates are quoted for bash. */
  readonly bash?: string;
}

/**
 * Prints the candidates for the last word, one per line: quoted for bash, or followed by a tab and a description for other shells.
 * Never fails, because an error message would disturb the command line that the user types.
 */
export async function runComplete(
  program: Command,
  context: CliContext,
  { bash, typed }: CompleteOptions & { readonly typed: readonly string[] },
): Promise<ExitCode> {
  const bashWords = bash === undefined ? undefined : readBashWords(typed, bash);
  if (bash !== undefined && bashWords === undefined) return 0;
  const words = bashWords?.words ?? typed;
  const current = words.at(-1) ?? '';
  let cached: Promise<CachedNames> | undefined;
  const names: LoadNames = () => (cached ??= readNames(words, context));
  try {
    const candidates = await findCandidates({ program, names, context }, words.slice(0, -1), current);
    for (const { text, about = '' } of candidates) {
      if (!text.startsWith(current) || hasControlCharacters(text)) continue;
      context.out.line(bashWords?.insert(text) ?? `${text}\t${toOneLine(about).slice(0, 80)}`);
    }
  } catch {
    // Pressing Tab must not print errors.
  }
  return 0;
}

/** Whether a candidate must be left out: shells split candidates at line breaks and tabs, and print them to the terminal. */
function hasControlCharacters(text: string): boolean {
  return /[\t\n]/.test(text) || sanitize(text) !== text;
}

interface Completion {
  readonly program: Command;
  readonly names: LoadNames;
  readonly context: CliContext;
}

async function findCandidates(
  { program, names, context }: Completion,
  before: readonly string[],
  current: string,
): Promise<readonly Candidate[]> {
  const end = before.indexOf('--');
  if (end >= 0) return [];
  const { command, words, open } = parseWords(program, before);
  if (open !== undefined) return completeOptionValue(open, { command, names, context });
  if (current.startsWith('-'))
    return [...new Set([...command.options, ...program.options])]
      .filter(({ hidden }) => !hidden)
      .map(toFlagCandidate);
  const commands = command.commands.filter((subcommand) => !subcommand.name().startsWith('__'));
  if (commands.length > 0) {
    const all = commands.map((subcommand) => ({ text: subcommand.name(), about: subcommand.summary() }));
    return command === program ? [...all, { text: 'help', about: 'print help for a command' }] : all;
  }
  // Servers choose their names. A name that begins with a dash would be parsed as an option, for example `--config=FILE`.
  const isUndo = before.includes('--undo');
  const found =
    command.name() === 'connect' && words.length === 0
      ? await completeClient(isUndo ? 'connected' : 'connectable', context)
      : await completeArgument(command, words, names);
  return found.filter(({ text }) => !text.startsWith('-'));
}

/** Returns the command, its arguments so far, and an option that still needs its value. */
function parseWords(program: Command, before: readonly string[]) {
  let command = program;
  let open: Option | undefined;
  const words: string[] = [];
  for (const word of before) {
    if (open !== undefined) {
      open = undefined;
    } else if (word.startsWith('-') && word !== '-') {
      const option = [...command.options, ...program.options].find(
        ({ long, short }) => word === long || word === short,
      );
      open = option?.required === true ? option : undefined;
    } else {
      const next = command.commands.find((subcommand) => subcommand.name() === word);
      if (next === undefined) words.push(word);
      else command = next;
    }
  }
  return { command, words, open };
}

async function completeOptionValue(
  option: Option,
  { command, names, context }: Pick<Completion, 'names' | 'context'> & { readonly command: Command },
): Promise<readonly Candidate[]> {
  if (option.argChoices !== undefined) return option.argChoices.map((text) => ({ text }));
  const place = `${command.name()} ${option.long}`;
  if (place === 'init --connect') return completeClient('connectable', context);
  if (place === 'import --from') return completeClient('importable', context);
  return option.long === '--server' ? toServerCandidates(await names()) : [];
}

/** Completes the id of a client. Those of this machine come first. */
async function completeClient(
  which: 'connectable' | 'importable' | 'connected',
  context: CliContext,
): Promise<readonly Candidate[]> {
  const { listClients } = await import('./complete/list-clients.ts');
  return listClients(which, context);
}

async function completeArgument(
  command: Command,
  words: readonly string[],
  names: LoadNames,
): Promise<readonly Candidate[]> {
  const declared = command.registeredArguments;
  const argument =
    declared[words.length] ?? (declared.at(-1)?.variadic === true ? declared.at(-1) : undefined);
  if (argument?.argChoices !== undefined) return argument.argChoices.map((text) => ({ text }));
  const name = command.name();
  if (TOOL_COMMANDS.has(name)) return completeTool(name, words, await names());
  if (argument === undefined) return [];
  if (argument.name() === 'server' || SERVER_COMMANDS.has(name))
    return toServerCandidates(await names()).filter(({ text }) => !words.includes(text));
  if (name === 'prompt' && words.length === 0) return (await names()).prompts.map((text) => ({ text }));
  return argument.name() === 'uri' ? (await names()).resources.map((text) => ({ text })) : [];
}

/** Completes names of tools; after a server, the original names of its tools; after a tool, its parameters. */
function completeTool(command: string, words: readonly string[], names: CachedNames): readonly Candidate[] {
  const [first, second] = words;
  const about = ({ definition }: CachedNames['tools'][number]): string =>
    toOneLine(definition['description']);
  const all: Candidate[] = names.tools.map((tool) => ({ text: tool.name, about: about(tool) }));
  if (first === undefined || command === 'preflight')
    return all.concat(command === 'preflight' ? [] : toServerCandidates(names));
  const own = names.tools.filter(({ upstream }) => upstream === first);
  if (own.length > 0 && second === undefined)
    return own
      .filter(({ definition }) => !isArgumentWord(definition.name))
      .map((tool) => ({ text: tool.definition.name, about: about(tool) }));
  if (command !== 'call') return [];
  const tool =
    names.tools.find((each) => each.name === first) ??
    own.find(({ definition }) => definition.name === second);
  const schema = tool?.definition['inputSchema'];
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return [];
  return Object.entries(schema['properties'])
    .filter(([key]) => canBeTypedAsKey(key))
    .map(([key, property]) => ({
      text: `${key}=`,
      about: isJsonObject(property) ? toOneLine(property['description']) : '',
    }));
}

/** Whether `key=` is parsed as an argument with this key. A key such as `a=b` would be parsed as the key `a` with a value. */
function canBeTypedAsKey(key: string): boolean {
  return !key.includes('=') && !key.endsWith(':');
}

function toServerCandidates(names: CachedNames): Candidate[] {
  return names.servers.map((text) => ({ text, about: 'server' }));
}

function toFlagCandidate(option: Option): Candidate {
  return { text: option.long ?? option.flags, about: option.description };
}

async function readNames(words: readonly string[], context: CliContext): Promise<CachedNames> {
  const at = words.lastIndexOf('--config');
  const locations = resolveLocations(context);
  const { file } = await findConfig({
    flag: at < 0 ? words.find((word) => word.startsWith('--config='))?.slice(9) : words[at + 1],
    env: context.env,
    cwd: context.cwd,
    locations,
    // Completion only prints cached names, which come from configurations that were trusted before.
    isTrusted: () => Promise.resolve(true),
  });
  const { readCachedNames } = await import('../../app/read-cached-names.ts');
  return readCachedNames(resolveStateDir(file, locations), context.build);
}
