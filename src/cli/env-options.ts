import type { Command } from 'commander';
import type { CliContext } from './context.ts';

const OFF = /^(?:0|no|off|false)$/i;

/** The options of a command without those that a variable of the environment does not really set: empty ones, and switches that say no. */
export function optionsOf(command: Command, { env }: Pick<CliContext, 'env'>): Record<string, unknown> {
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
