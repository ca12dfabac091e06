import { Command, CommanderError, Help, Option } from 'commander';
import { checkFolderOwners } from '../config/check-folder-owners.ts';
import { resolveLocations } from '../config/find-config.ts';
import { GatewayError } from '../core/errors.ts';
import type { ExitCode } from '../core/errors.ts';
import type { CliContext } from './context.ts';
import { declareKeys } from './declare/declare-keys.ts';
import { declareTroubleshooting } from './declare/declare-troubleshooting.ts';
import { declareDesktop } from './declare/declare-desktop.ts';
import type { CommandRegistrar, CommandRunner } from './declare.ts';
import { declareAudit } from './declare/declare-audit.ts';
import { declareScripts } from './declare/declare-scripts.ts';
import { declareGateway } from './declare/declare-gateway.ts';
import { declareSetup } from './declare/declare-setup.ts';
import { declareSignIn } from './declare/declare-sign-in.ts';
import { declareApprovals } from './declare/declare-approvals.ts';
import { declareTools } from './declare/declare-tools.ts';
import { resolveOptions } from './resolve-options.ts';
import { createOutput } from './output.ts';
import { wrapProse } from './print/prose.ts';
import { detectStyle } from './print/output-style.ts';

/** The groups of commands, in the order of the help screen. */
const GROUPS = [
  declareTools,
  declareGateway,
  declareSetup,
  declareSignIn,
  declareKeys,
  declareTroubleshooting,
  declareApprovals,
  declareAudit,
  declareDesktop,
  declareScripts,
];

/** Parses the command line and runs one command. Only the file of that command is imported. */
export async function runCli(typed: readonly string[], baseContext: CliContext): Promise<ExitCode> {
  // The style is read before the command line is parsed, so that parse errors are printed in that style.
  let context = { ...baseContext, out: createOutput(baseContext, detectStyle(typed, baseContext)) };
  let exit: ExitCode = 0;
  try {
    const argv = await separateAddProgram(typed, context);
    // An option such as --json may belong to the program that is added.
    if (argv !== typed)
      context = { ...context, out: createOutput(baseContext, detectStyle(argv, baseContext)) };
    const program = buildProgram(context, (code) => (exit = code), argv);
    await program.parseAsync(normalizeHelp(program, argv), { from: 'user' });
    return exit;
  } catch (error) {
    // Commander throws help and version with exit code 0. Its other errors are usage errors.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    const problem = error instanceof GatewayError ? error : toInternalError(error, context);
    context.out.problem(problem);
    return problem.traits.exit;
  }
}

/** Inserts `--` before the program that `add` adds. Only that command needs the code for it. */
async function separateAddProgram(typed: readonly string[], context: CliContext): Promise<readonly string[]> {
  if (!typed.includes('add')) return typed;
  const { separateProgram } = await import('./separate-program.ts');
  return separateProgram(
    buildProgram(context, () => {}),
    typed,
  );
}

/**
 * Rewrites `help COMMAND` to `COMMAND --help`, and an empty command line to `--help`. For an unknown command, removes the help flag,
 * so that the parser rejects the command.
 */
function normalizeHelp(program: Command, argv: readonly string[]): readonly string[] {
  const { globalOptions, words } = splitGlobalOptions(program, argv);
  if (words.length === 0) return [...argv, '--help'];
  const isHelp = words[0] === 'help';
  const typed = isHelp ? words.slice(1) : words;
  let command = program;
  let depth = 0;
  for (const word of typed) {
    const next = command.commands.find((subcommand) => subcommand.name() === word);
    if (next === undefined) break;
    command = next;
    depth += 1;
  }
  const unknown = command.commands.length > 0 ? typed[depth] : undefined;
  if (unknown !== undefined && unknown !== 'help' && !unknown.startsWith('-'))
    return [...globalOptions, ...typed.filter((word) => word !== '--help' && word !== '-h')];
  return isHelp ? [...globalOptions, ...typed.slice(0, depth), '--help'] : argv;
}

/** Separates the global options, such as `--config FILE`, from all other words. Global options may appear anywhere before `--`. */
function splitGlobalOptions(
  { options }: Command,
  argv: readonly string[],
): { readonly globalOptions: readonly string[]; readonly words: readonly string[] } {
  const globalOptions: string[] = [];
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') return { globalOptions, words: [...words, ...argv.slice(at)] };
    const [flag, value] = word.split('=', 2);
    const option = options.find(({ long }) => long === flag);
    const takesNext = option?.required === true && value === undefined;
    // An option without its value stays in place, so that the parser rejects it.
    if (option === undefined || (takesNext && at + 1 === argv.length)) words.push(word);
    else globalOptions.push(...argv.slice(at, takesNext ? ++at + 1 : at + 1));
  }
  return { globalOptions, words };
}

/** Converts an unexpected error, which is a bug. The stack trace is printed only at log level `debug`. */
function toInternalError(error: unknown, { env }: CliContext): GatewayError {
  const text = error instanceof Error ? error.message : String(error);
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const details =
    env['TRUNKLINE_LOG_LEVEL'] === 'debug'
      ? `\n${stack}`
      : ' This is a bug. Set TRUNKLINE_LOG_LEVEL=debug to see the stack trace.';
  return new GatewayError('INVARIANT', `Internal error: ${text.replace(/\.$/, '')}.${details}`, {
    cause: error,
  });
}

/**
 * Builds the command-line parser. `docs/cli.md` is generated from it. To add a command, declare it in the file of its group in
 * `declare/` and implement it in `commands/`.
 *
 * @public
 */
export function buildProgram(
  context: CliContext,
  finish: (code: ExitCode) => void,
  argv: readonly string[] = [],
): Command {
  const program = new Command('trunkline')
    .description('A gateway between AI agents and the MCP servers they use.')
    .version(context.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({
      showGlobalOptions: true,
      subcommandTerm: (command) => command.name(),
      minWidthToWrap: MIN_HELP_WIDTH,
      formatHelp,
    })
    .addOption(new Option('--config <file>', 'use this configuration file').env('TRUNKLINE_CONFIG'))
    .option('--json', 'print JSON (in pipes also with TRUNKLINE_OUTPUT=json)')
    .addOption(new Option('--text', 'print text even with TRUNKLINE_OUTPUT=json').conflicts('json'))
    .addOption(
      new Option('--color <when>', 'colour the text')
        .choices(['auto', 'always', 'never'])
        .env('TRUNKLINE_COLOR'),
    )
    .addOption(
      new Option('--progress <how>', 'show progress')
        .choices(['auto', 'lines', 'none'])
        .env('TRUNKLINE_PROGRESS'),
    )
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => context.out.usageError(text),
    });
  const registrar: CommandRegistrar = {
    program,
    lazy: (load) => createAction(load, { context, finish, argv }),
  };
  // For `serve`, only its own group is declared: clients wait for it at every start, and declaring all commands takes milliseconds.
  for (const group of argv[0] === 'serve' ? [declareGateway] : GROUPS) group(registrar);
  addHelpHints(program, 'trunkline');
  return program;
}

/** Makes each command's errors point to its own help. */
function addHelpHints(command: Command, path: string): void {
  const isGroup = command.commands.length > 0;
  command.showHelpAfterError(
    `Run ${path} --help to see its ${isGroup ? 'commands' : 'arguments and options'}.`,
  );
  for (const subcommand of command.commands) addHelpHints(subcommand, `${path} ${subcommand.name()}`);
}

function createAction<Options>(
  load: () => Promise<CommandRunner<Options>>,
  deps: { context: CliContext; finish: (code: ExitCode) => void; argv: readonly string[] },
): ReturnType<CommandRegistrar['lazy']> {
  return async (...parameters) => {
    // Commander puts the command last.
    const command = parameters.at(-1) as Command;
    const { words, rest } = splitServerCommand(command, deps.argv);
    // `command.args` lacks default values. Only the processed arguments include them.
    const withDefaults = command.processedArgs.filter((value): value is string => typeof value === 'string');
    // TypeScript cannot derive the type of the options from their declarations.
    const options = { ...resolveOptions(command, deps.context), rest } as Options;
    // `doctor` reports wrong folder owners among its findings instead.
    if (command.name() !== 'doctor') checkFolderOwners(resolveLocations(deps.context), process.getuid?.());
    const run = await load();
    // The timer keeps the process alive, because some work does not, such as waiting for the next attempt to reach a server.
    const keepAlive = setInterval(() => {}, 60_000);
    try {
      deps.finish(
        await run(options, deps.context, rest === undefined && words.length === 0 ? withDefaults : words),
      );
    } finally {
      clearInterval(keepAlive);
    }
  };
}

/** Separates the words after `--`, for commands that accept the command line of a server there. */
function splitServerCommand(command: Command, argv: readonly string[]): { words: string[]; rest?: string[] } {
  const { args: words, registeredArguments } = command;
  // Commands with --url allow excess arguments (see `withAdHocServer`), so their number is checked here.
  const takesServer = command.options.some(({ long }) => long === '--url');
  const at = takesServer ? argv.indexOf('--') : -1;
  // `words` includes the words after `--`, so they are removed from its end.
  const own = at < 0 ? words : words.slice(0, words.length - (argv.length - at - 1));
  const max = registeredArguments.some(({ variadic }) => variadic) ? Infinity : registeredArguments.length;
  if (takesServer && own.length > max)
    command.error(
      `error: too many arguments for '${command.name()}'. Expected ${max} argument${max === 1 ? '' : 's'} but got ${own.length}.${at < 0 ? ' Put the command of a server after --.' : ''}`,
    );
  return at < 0 ? { words } : { words: own, rest: argv.slice(at + 1) };
}

/** Formats help. The first screen lists commands before options, and rarely used commands only by name. */
function formatHelp(this: void, command: Command, helper: Help): string {
  // Options take one line on the first screen. The help of a command describes them in full.
  if (command.parent === null) helper.optionDescription = describeOption;
  const text = Help.prototype.formatHelp.call(helper, command, helper);
  if (command.parent !== null) return text;
  const blocks = text.trimEnd().split('\n\n');
  const options = blocks.filter((block) => block.startsWith('Options:'));
  const rare = blocks.filter((block) => RARE_TASKS.some((task) => block.startsWith(`${task}:`)));
  // The block "Commands:" holds only `help`, which the last line explains.
  const frequent = blocks.filter(
    (block) => ![...options, ...rare].includes(block) && !block.startsWith('Commands:'),
  );
  const last = 'Run trunkline help COMMAND for details about a command.';
  const width = helper.helpWidth ?? 80;
  return `${[...frequent, formatRareTasks(rare, width), ...options, wrapProse(last, width)].join('\n\n')}\n`;
}

function describeOption(this: void, { description, argChoices, envVar }: Option): string {
  if (argChoices !== undefined) return `${description}: ${argChoices.join(', ')}`;
  return envVar === undefined ? description : `${description} (env: ${envVar})`;
}

/** The minimum width of the description column, in characters. Narrower columns are not wrapped. */
const MIN_HELP_WIDTH = 14;

/** Groups for which the first screen lists only the names of the commands, to stay short. */
const RARE_TASKS = [
  'Change servers',
  'Sign in to servers',
  'Give others access',
  'Control what may be used',
  'Logs and statistics',
  'Watch and pause',
  'For scripts and shells',
  'Remove Trunkline',
];

function formatRareTasks(blocks: readonly string[], screen: number): string {
  const width = Math.max(...RARE_TASKS.map(({ length }) => length));
  const lines = blocks.map((block) => {
    const [task = '', ...commands] = block.split('\n');
    // Continuation lines of a summary are indented further and do not match.
    const names = commands.flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
    const singleLine = `  ${task.replace(/:$/, '').padEnd(width)}  ${names.join(', ')}`;
    if (singleLine.length <= screen) return singleLine;
    return `  ${task.replace(/:$/, '')}\n${wrapProse(`    ${names.join(', ')}`, screen)}`;
  });
  return ['More:', ...lines].join('\n');
}
