import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import type { ExitCode } from '../model/errors.ts';
import type { CliContext } from './context.ts';

/** What stands behind a command: the options as typed, the world, and the words that are no options. */
export type Run<Options> = (
  options: Options,
  context: CliContext,
  words: readonly string[],
) => Promise<ExitCode>;

/** What a file of declarations is given. A command is declared in its group's file and lives in `commands/`. */
export interface Declare {
  readonly program: Command;
  /** An action that imports the command's file when it was chosen. */
  readonly run: <Options>(load: () => Promise<Run<Options>>) => (...parameters: unknown[]) => Promise<void>;
}

/** Of every command, wherever it stands on the line. */
export interface GlobalOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly text?: boolean;
}

/** A server that is named on the command line instead of in a configuration. */
export interface AdHocOptions extends GlobalOptions {
  readonly url?: string;
  readonly header?: readonly string[];
  /** What followed `--`. */
  readonly rest?: readonly string[];
}

/** Lets a command work on a server that no configuration has: at a URL, or started by what follows `--`. */
export function adHoc(command: Command): Command {
  return command
    .addOption(new Option('--url <url>', 'use the server at this address, and no configuration'))
    .addOption(
      new Option(
        '--header <name: value>',
        'send this header to it, also as NAME=VALUE; may be repeated',
      ).argParser(collect),
    )
    .usage(`${command.usage()} [-- command…]`)
    .allowExcessArguments();
}

export function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

/** A whole number above zero. */
export function count(value: string): number {
  if (!/^[1-9]\d{0,6}$/.test(value)) throw new InvalidArgumentError('It is not a whole number above zero.');
  return Number(value);
}
