import { Argument } from 'commander';
import type { CompleteOptions } from '../commands/complete.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands for scripts, containers and shells. */
export function declareScripts({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('For scripts and shells:');
  program
    .command('config')
    .summary('print which configuration is used')
    .description(
      'Print which configuration file the commands use. Change it with trunkline edit, check it with trunkline doctor.',
    )
    .command('path')
    .summary('print the path of the configuration')
    .description(
      'Print the path of the configuration that other commands use, even if it does not exist. Does not read, write or start anything.',
    )
    .action(lazy(async () => (await import('../commands/config-path.ts')).runConfigPath));
  program
    .command('healthcheck')
    .argument('[url]', 'the URL of a gateway; without a path, /healthz is added')
    .summary('check that a gateway answers over HTTP')
    .description(
      'Check that a gateway answers over HTTP within five seconds: the gateway at the URL. Without a URL, the running gateway of this configuration, or its configured address if none runs. Exit code 0: it answers, 4: it does not. In a pipe, prints nothing without --json, for health checks of containers.',
    )
    .action(lazy(async () => (await import('../commands/healthcheck.ts')).runHealthcheck));
  program
    .command('completions')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .summary('print a script for shell completion')
    .description('Print a script that makes the shell complete commands, options, servers and tools.')
    .action(lazy(async () => (await import('../commands/completions.ts')).runCompletions));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .option('--bash <wordbreaks>', 'read and print words as bash does')
    .action(
      lazy<CompleteOptions>(async () => {
        const { runComplete } = await import('../commands/complete.ts');
        return (options, context, typed) => runComplete(program, context, { ...options, typed });
      }),
    );
}
