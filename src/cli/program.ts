import { Command, CommanderError, Option } from 'commander';
import { GatewayError } from '../model/errors.ts';
import type { ExitCode } from '../model/errors.ts';
import type { CliContext } from './context.ts';

/** Parses the command line and runs one command; command files are imported when chosen. */
export async function runCli(argv: readonly string[], context: CliContext): Promise<ExitCode> {
  let exit: ExitCode = 0;
  const program = buildProgram(context, (code) => (exit = code));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exit;
  } catch (error) {
    // Help and version are thrown with exit code 0; everything else of commander's is a usage error.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (error instanceof GatewayError) {
      context.out.problem(error);
      return error.traits.exit;
    }
    throw error;
  }
}

/**
 * Everything that can be typed; the document of the command line is generated from it.
 *
 * @public
 */
export function buildProgram(context: CliContext, finish: (code: ExitCode) => void): Command {
  const program = new Command('trunkline')
    .description('One line to every MCP server.')
    .version(context.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .configureHelp({ showGlobalOptions: true })
    .addOption(new Option('--config <file>', 'use this configuration file').env('TRUNKLINE_CONFIG'))
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError('Run trunkline --help to see what there is.')
    .configureOutput({
      writeOut: (text) => void context.stdout.write(text),
      writeErr: (text) => void context.stderr.write(text),
    });
  program
    .command('serve')
    .summary('be an MCP server in front of all configured ones')
    .description(
      'Be an MCP server in front of all configured ones: over standard input and output, or over HTTP.',
    )
    .addOption(
      new Option(
        '--http [address]',
        'listen for HTTP instead; without an address on http.address of the configuration',
      ).env('TRUNKLINE_HTTP'),
    )
    .addOption(
      new Option('--expose <kind>', 'how tools are shown to clients')
        .choices(['auto', 'direct', 'search'])
        .env('TRUNKLINE_EXPOSE'),
    )
    .option('--standalone', 'run the gateway in this very process, which is what happens today in any case')
    .addOption(
      new Option('--log-level <level>', 'how much to say on standard error')
        .choices(['debug', 'info', 'warn', 'error'])
        .env('TRUNKLINE_LOG_LEVEL'),
    )
    .helpOption('-h, --help', 'print help')
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import('./commands/serve.ts');
      finish(await serve(command.optsWithGlobals(), context));
    });
  program
    .command('trust')
    .argument('[file]', 'a project configuration', 'trunkline.jsonc')
    .summary('allow a project configuration to start its servers')
    .description("Allow a project's trunkline.jsonc, as it is now, to start the servers it names.")
    .helpOption('-h, --help', 'print help')
    .action(async (file: string) => {
      const { trustFile } = await import('./commands/trust.ts');
      finish(await trustFile(file, context));
    });
  for (const command of program.commands) command.copyInheritedSettings(program);
  return program;
}
