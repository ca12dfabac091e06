import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { ExitCode } from '../core/errors.ts';
import type { CliContext } from './context.ts';

/** Runs a command with its parsed options, the context and its positional arguments. */
export type CommandRunner<Options> = (
  options: Options,
  context: CliContext,
  words: readonly string[],
) => Promise<ExitCode>;

/**
 * Declares commands on the program. A command is declared in its group's file in `declare/` and implemented in `commands/`:
 *
 *     program.command('tools').action(lazy(async () => (await import('../commands/tools.ts')).runTools));
 */
export interface CommandRegistrar {
  readonly program: Command;
  /** Creates an action that imports the file of the command only when the command runs. */
  readonly lazy: <Options>(
    load: () => Promise<CommandRunner<Options>>,
  ) => (...parameters: unknown[]) => Promise<void>;
}

/** Options of every command. They may appear anywhere on the command line. */
export interface GlobalOptions {
  readonly config?: string | undefined;
  readonly json?: boolean | undefined;
  readonly text?: boolean | undefined;
}

/** Options of commands that accept a server on the command line instead of in the configuration. */
export interface AdHocOptions extends GlobalOptions {
  readonly url?: string;
  readonly header?: readonly string[];
  /** The words after `--`. */
  readonly rest?: readonly string[];
}

/** Adds options for a server that is not configured: one at a URL, or one that the command after `--` starts. */
export function withAdHocServer(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'use the server at this URL instead of the configuration'))
    .addOption(
      new Option(
        '--header <name: value>',
        'send this header to the URL; NAME=VALUE works as well; may be repeated',
      ).argParser(collectValues),
    )
    .usage(`${command.usage()} [-- command…]`)
    .allowExcessArguments();
}

/** Collects the values of an option that may be repeated. */
export function collectValues(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

/** Parses an option value that must be an integer from 1 to 9,999,999. */
export function parsePositiveInteger(value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value))
    throw new InvalidArgumentError('It must be a whole number from 1 to 9999999.');
  return Number(value);
}
