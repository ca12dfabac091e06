import { Command, CommanderError, Help, Option } from 'commander';
import { GatewayError } from '../model/errors.ts';
import type { ExitCode } from '../model/errors.ts';
import type { CliContext } from './context.ts';
import { declareAccess } from './declare/declare-access.ts';
import { declareCare } from './declare/declare-care.ts';
import { declareDesktop } from './declare/declare-desktop.ts';
import type { Declare, Run } from './declare.ts';
import { declareRecord } from './declare/declare-record.ts';
import { declareScripts } from './declare/declare-scripts.ts';
import { declareServing } from './declare/declare-serving.ts';
import { declareSetUp } from './declare/declare-set-up.ts';
import { declareSignIn } from './declare/declare-sign-in.ts';
import { declareTrust } from './declare/declare-trust.ts';
import { declareUse } from './declare/declare-use.ts';
import { optionsOf } from './env-options.ts';
import { output } from './output.ts';
import { prose } from './print/prose.ts';
import { styleOf } from './print/style.ts';

/** In the order of the help screen. */
const GROUPS = [
  ...[declareUse, declareServing, declareSetUp, declareSignIn, declareAccess],
  ...[declareCare, declareTrust, declareRecord, declareDesktop, declareScripts],
];

/** Parses the command line and runs one command; command files are imported when chosen. */
export async function runCli(argv: readonly string[], world: CliContext): Promise<ExitCode> {
  // Read before everything else, so that a wrong command line is also reported as it was asked for.
  const context = { ...world, out: output(world, styleOf(argv, world)) };
  let exit: ExitCode = 0;
  try {
    const program = buildProgram(context, (code) => (exit = code), argv);
    await program.parseAsync(withHelp(program, argv), { from: 'user' });
    return exit;
  } catch (error) {
    // Help and version are thrown with exit code 0; everything else of commander's is a usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const own = error instanceof GatewayError ? error : unexpected(error, context);
    context.out.problem(own);
    return own.traits.exit;
  }
}

/** `help COMMAND` becomes what the parser knows best; of a command that is not there nobody gets the help of something else. */
function withHelp(program: Command, argv: readonly string[]): readonly string[] {
  const { everywhere, words } = dividedTyped(program, argv);
  if (words.length === 0) return [...argv, '--help'];
  const isHelp = words[0] === 'help';
  const typed = isHelp ? words.slice(1) : words;
  let command = program;
  let depth = 0;
  for (const word of typed) {
    const next = command.commands.find((each) => each.name() === word);
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  const unknown = command.commands.length > 0 ? typed[depth] : undefined;
  if (unknown !== undefined && unknown !== 'help' && !unknown.startsWith('-'))
    return [...everywhere, ...typed.filter((word) => word !== '--help' && word !== '-h')];
  return isHelp ? [...everywhere, ...typed.slice(0, depth), '--help'] : argv;
}

/** Options of every command, such as `--config FILE`, which may stand anywhere, apart from everything else that was typed. */
function dividedTyped(
  { options }: Command,
  argv: readonly string[],
): { readonly everywhere: readonly string[]; readonly words: readonly string[] } {
  const everywhere: string[] = [];
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') return { everywhere, words: [...words, ...argv.slice(at)] };
    const [flag, value] = word.split('=', 2);
    const option = options.find(({ long }) => long === flag);
    const takesNext = option?.required === true && value === undefined;
    // The parser tells what is wrong with one that lacks its value.
    if (option === undefined || (takesNext && at + 1 === argv.length)) words.push(word);
    else everywhere.push(...argv.slice(at, takesNext ? ++at + 1 : at + 1));
  }
  return { everywhere, words };
}

/** A bug of ours. People get a sentence; whoever looks for it asks for more. */
function unexpected(error: unknown, { env }: CliContext): GatewayError {
  const text = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const more =
    env['TRUNKLINE_LOG_LEVEL'] === 'debug' ? `\n${stack}` : ' TRUNKLINE_LOG_LEVEL=debug shows where.';
  return new GatewayError('INVARIANT', `Something unexpected happened: ${text.replace(/\.$/, '')}.${more}`, {
    cause: error,
  });
}

/**
 * Everything that can be typed; the document of the command line is generated from it. Each group of commands has a file
 * called `declare-…`; to add a command, declare it there and write its file in `commands/`.
 *
 * @public
 */
export function buildProgram(
  context: CliContext,
  finish: (code: ExitCode) => void,
  argv: readonly string[] = [],
): Command {
  const program = new Command('trunkline')
    .description('One line to every MCP server.')
    .version(context.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => command.name(),
      minWidthToWrap: LEAST_HELP_WIDTH,
      formatHelp,
    })
    .addOption(new Option('--config <file>', 'use this configuration file').env('TRUNKLINE_CONFIG'))
    .option('--json', 'print JSON, as in a pipe')
    .addOption(new Option('--text', 'print text, as on a terminal').conflicts('json'))
    .addOption(
      new Option('--color <when>', 'colour the text')
        .choices(['auto', 'always', 'never'])
        .env('TRUNKLINE_COLOR'),
    )
    .addOption(
      new Option('--progress <how>', 'how waiting is shown')
        .choices(['auto', 'lines', 'none'])
        .env('TRUNKLINE_PROGRESS'),
    )
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => context.out.usage(text),
    });
  const declare: Declare = { program, run: (load) => action(load, { context, finish, argv }) };
  // A client waits for `serve` at each of its starts, and fifty commands take milliseconds to declare.
  for (const group of argv[0] === 'serve' ? [declareServing] : GROUPS) group(declare);
  nameOwnHelp(program, 'trunkline');
  return program;
}

/** Whoever typed something wrong is led to the help of that very command. */
function nameOwnHelp(command: Command, path: string): void {
  const isGroup = command.commands.length > 0;
  command.showHelpAfterError(`Run ${path} --help to see what ${isGroup ? 'there is' : 'it takes'}.`);
  for (const each of command.commands) nameOwnHelp(each, `${path} ${each.name()}`);
}

function action<Options>(
  load: () => Promise<Run<Options>>,
  deps: { context: CliContext; finish: (code: ExitCode) => void; argv: readonly string[] },
): ReturnType<Declare['run']> {
  return async (...parameters) => {
    // Commander puts the command last.
    const command = parameters.at(-1) as Command;
    const { words, rest } = divided(command, deps.argv);
    // Arguments that were not given may have defaults, which only the processed ones have.
    const given = command.processedArgs.filter((each): each is string => typeof each === 'string');
    // What the declaration says is what comes out, which types cannot follow.
    const options = { ...optionsOf(command, deps.context), ...(rest && { rest }) } as Options;
    const run = await load();
    // A command may wait for what keeps no process alive by itself, such as the next attempt to reach a server.
    const awake = setInterval(() => {}, 60_000);
    try {
      deps.finish(await run(options, deps.context, rest === undefined && words.length === 0 ? given : words));
    } finally {
      clearInterval(awake);
    }
  };
}

/** What follows `--` is the command of a server, for those that take one; for all others it is more words. */
function divided(command: Command, argv: readonly string[]): { words: string[]; rest?: string[] } {
  const { args: words, registeredArguments } = command;
  // Only commands with a server of their own take more words than they declare.
  const takesServer = command.options.some(({ long }) => long === '--url');
  const at = takesServer ? argv.indexOf('--') : -1;
  const own = at < 0 ? words : words.slice(0, words.length - (argv.length - at - 1));
  const most = registeredArguments.some(({ variadic }) => variadic) ? Infinity : registeredArguments.length;
  if (takesServer && own.length > most)
    command.error(
      `error: too many arguments for '${command.name()}'. Expected ${most} argument${most === 1 ? '' : 's'} but got ${own.length}.${at < 0 ? ' The command of a server comes behind --.' : ''}`,
    );
  return at < 0 ? { words } : { words: own, rest: argv.slice(at + 1) };
}

/** The first screen has what one can do before how it can be varied. */
function formatHelp(this: void, command: Command, helper: Help): string {
  // The first screen says in one line what an option takes; more is on the others.
  if (command.parent === null) helper.optionDescription = inOneLine;
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  if (command.parent !== null) return text;
  const blocks = text.trimEnd().split('\n\n');
  const isOf = (heading: string) => (block: string) => block.startsWith(heading);
  const options = blocks.filter(isOf('Options:'));
  const rare = blocks.filter((block) => RARE_TASKS.some((task) => isOf(`${task}:`)(block)));
  // Its own line in the list of commands would be the only one without a task.
  const often = blocks.filter((block) => ![...options, ...rare].includes(block) && !isOf('Commands:')(block));
  const last = 'trunkline help COMMAND tells more about a command.';
  const width = helper.helpWidth ?? 80;
  const blocksShown = [...often, inShort(rare, width), ...options, prose(last, width)];
  return `${blocksShown.join('\n\n')}\n`;
}

function inOneLine(this: void, { description, argChoices, envVar }: Option): string {
  if (argChoices !== undefined) return `${description}: ${argChoices.join(', ')}`;
  return envVar === undefined ? description : `${description} (env: ${envVar})`;
}

/** Below this a column of explanations is not broken into lines any more. */
const LEAST_HELP_WIDTH = 14;

/** Tasks of later days: the first screen only has the names of their commands, to stay short. */
const RARE_TASKS = [
  'Sign in to servers',
  'Let others call',
  'Decide what may be used',
  'See what was done',
  'Watch and pause',
  'For scripts and shells',
];

function inShort(blocks: readonly string[], screen: number): string {
  const width = Math.max(...RARE_TASKS.map(({ length }) => length));
  const lines = blocks.map((block) => {
    const [task = '', ...commands] = block.split('\n');
    // A summary that needs a second line has it indented further.
    const names = commands.flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
    const beside = `  ${task.replace(/:$/, '').padEnd(width)}  ${names.join(', ')}`;
    if (beside.length <= screen) return beside;
    return `  ${task.replace(/:$/, '')}\n${prose(`    ${names.join(', ')}`, screen)}`;
  });
  return ['More:', ...lines].join('\n');
}
