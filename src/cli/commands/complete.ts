import type { Command, Option } from 'commander';
import type { CachedNames } from '../../app/cached-names.ts';
import { findConfig, locations, stateDirOf } from '../../config/paths.ts';
import type { ExitCode } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { CliContext } from '../context.ts';
import { inOneLine } from '../harmless.ts';

interface Candidate {
  readonly text: string;
  readonly about?: string | undefined;
}

type Names = () => Promise<CachedNames>;

const OF_TOOLS = new Set(['call', 'describe', 'why', 'preflight']);
const OF_SERVERS = new Set(['remove', 'enable', 'disable']);

/** Prints what the last of the words can become, a candidate and what it is about per line; never fails a shell. */
export async function complete(
  program: Command,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const current = words.at(-1) ?? '';
  let cached: Promise<CachedNames> | undefined;
  const names: Names = () => (cached ??= readNames(words, context));
  try {
    const candidates = await candidatesFor(program, words.slice(0, -1), current, names);
    for (const { text, about = '' } of candidates)
      if (text.startsWith(current) && !/[\t\n]/.test(text))
        context.out.line(`${text}\t${inOneLine(about).slice(0, 80)}`);
  } catch {
    // Best effort: a person who presses Tab asked for no error.
  }
  return 0;
}

async function candidatesFor(
  program: Command,
  before: readonly string[],
  current: string,
  names: Names,
): Promise<readonly Candidate[]> {
  const end = before.indexOf('--');
  if (end >= 0) return [];
  const { command, words, open } = readLine(program, before);
  if (open !== undefined) return valuesOf(open, names);
  if (current.startsWith('-'))
    return [...new Set([...command.options, ...program.options])].filter(({ hidden }) => !hidden).map(flagOf);
  const commands = command.commands.filter((each) => !each.name().startsWith('__'));
  if (commands.length > 0) {
    const all = commands.map((each) => ({ text: each.name(), about: each.summary() }));
    return command === program ? [...all, { text: 'help', about: 'print help for a command' }] : all;
  }
  return wordsOf(command, words, names);
}

/** Walks the line as far as it is typed: which command it is, its words, and an option that still lacks its value. */
function readLine(program: Command, before: readonly string[]) {
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
      const next = command.commands.find((each) => each.name() === word);
      if (next === undefined) words.push(word);
      else command = next;
    }
  }
  return { command, words, open };
}

async function valuesOf(option: Option, names: Names): Promise<readonly Candidate[]> {
  if (option.argChoices !== undefined) return option.argChoices.map((text) => ({ text }));
  return option.long === '--server' ? servers(await names()) : [];
}

async function wordsOf(
  command: Command,
  words: readonly string[],
  names: Names,
): Promise<readonly Candidate[]> {
  const declared = command.registeredArguments;
  const argument =
    declared[words.length] ?? (declared.at(-1)?.variadic === true ? declared.at(-1) : undefined);
  if (argument?.argChoices !== undefined) return argument.argChoices.map((text) => ({ text }));
  const name = command.name();
  if (OF_TOOLS.has(name)) return toolsFor(name, words, await names());
  if (argument === undefined) return [];
  if (argument.name() === 'server' || OF_SERVERS.has(name)) return servers(await names());
  if (name === 'prompt' && words.length === 0) return (await names()).prompts.map((text) => ({ text }));
  return argument.name() === 'uri' ? (await names()).resources.map((text) => ({ text })) : [];
}

/** Names of tools; after a server its own names of them; after a tool its parameters. */
function toolsFor(command: string, words: readonly string[], names: CachedNames): readonly Candidate[] {
  const [first, second] = words;
  const about = ({ definition }: CachedNames['tools'][number]): string =>
    inOneLine(definition['description']);
  const all: Candidate[] = names.tools.map((tool) => ({ text: tool.name, about: about(tool) }));
  if (first === undefined || command === 'preflight')
    return all.concat(command === 'preflight' ? [] : servers(names));
  const own = names.tools.filter(({ upstream }) => upstream === first);
  if (own.length > 0 && second === undefined)
    return own.map((tool) => ({ text: tool.definition.name, about: about(tool) }));
  if (command !== 'call') return [];
  const tool =
    names.tools.find((each) => each.name === first) ??
    own.find(({ definition }) => definition.name === second);
  const schema = tool?.definition['inputSchema'];
  if (!isJsonObject(schema) || !isJsonObject(schema['properties'])) return [];
  return Object.entries(schema['properties']).map(([key, property]) => ({
    text: `${key}=`,
    about: isJsonObject(property) ? inOneLine(property['description']) : '',
  }));
}

function servers(names: CachedNames): Candidate[] {
  return names.servers.map((text) => ({ text, about: 'server' }));
}

function flagOf(option: Option): Candidate {
  return { text: option.long ?? option.flags, about: option.description };
}

async function readNames(words: readonly string[], context: CliContext): Promise<CachedNames> {
  const at = words.lastIndexOf('--config');
  const places = locations(context);
  const { file } = await findConfig({
    flag: at < 0 ? words.find((word) => word.startsWith('--config='))?.slice(9) : words[at + 1],
    env: context.env,
    cwd: context.cwd,
    locations: places,
    // Only names are shown, and only those of what was trusted and run before.
    isTrusted: () => Promise.resolve(true),
  });
  const { cachedNames } = await import('../../app/cached-names.ts');
  return cachedNames(stateDirOf(file, places), context.build);
}
