import type { Command } from 'commander';
import type { CliContext } from './context.ts';

/** Matches values of an environment variable that turn a switch off. */
const OFF = /^(?:0|no|off|false)$/i;

/**
 * Returns the options of a command, including global ones. Removes options that come from an empty environment variable, and switches
 * whose variable is `0`, `no`, `off` or `false`, because Commander treats any value of a variable as set.
 */
export function resolveOptions(command: Command, { env }: Pick<CliContext, 'env'>): Record<string, unknown> {
  const options: Record<string, unknown> = command.optsWithGlobals();
  for (let at: Command | null = command; at !== null; at = at.parent) {
    for (const option of at.options) {
      const name = option.attributeName();
      const { envVar } = option;
      if (envVar === undefined || command.getOptionValueSourceWithGlobals(name) !== 'env') continue;
      const value = env[envVar] ?? '';
      const isSwitch = !option.required && !option.optional;
      if (value === '' || (isSwitch && OFF.test(value))) delete options[name];
    }
  }
  return options;
}
