import { Argument } from 'commander';
import type { Declare } from '../declare.ts';

/** Commands for scripts, containers and shells. */
export function declareScripts({ program, run }: Declare): void {
  program.commandsGroup('For scripts and shells:');
  program
    .command('config')
    .summary('say which configuration is used')
    .description(
      'The configuration that commands use. trunkline edit changes it, trunkline doctor checks it.',
    )
    .command('path')
    .summary('print where it is')
    .description(
      'Print the path of the configuration that other commands use, whether it exists or not. Nothing is read, written or started.',
    )
    .action(run(async () => (await import('../commands/config-path.ts')).configPath));
  program
    .command('healthcheck')
    .argument('[url]', 'of a gateway; one without a path is asked at /healthz')
    .summary('ask whether a gateway answers over HTTP')
    .description(
      'Ask whether a gateway answers over HTTP within five seconds: the one at the URL, else the one of this configuration that runs, else one where it would listen. Exit code 0: it does, 4: it does not. In a pipe nothing is printed unless --json asks for it, as checks of containers want it.',
    )
    .action(run(async () => (await import('../commands/healthcheck.ts')).healthcheck));
  program
    .command('completions')
    .addArgument(new Argument('<shell>', 'which shell').choices(['bash', 'zsh', 'fish']))
    .summary('print a script that completes commands and names')
    .description('Print a script for the shell that completes commands, options, servers and tools.')
    .action(run(async () => (await import('../commands/completions.ts')).completions));
  program
    .command('__complete', { hidden: true })
    .argument('[words...]')
    .action(
      run(async () => {
        const { complete } = await import('../commands/complete.ts');
        return (_options, context, words) => complete(program, context, words);
      }),
    );
}
