import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that inspect servers and find problems. */
export function declareTroubleshooting({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Inspect and troubleshoot:');
  program
    .command('servers')
    .summary('list servers and their states')
    .description('List the configured servers with state, transport, number of tools and age of the listing.')
    .action(lazy(async () => (await import('../commands/servers.ts')).runServers));
  program
    .command('refresh')
    .argument('[server]', 'only this server')
    .summary('fetch the tool lists of servers again')
    .description('Fetch the tools, prompts and resources again, from all servers or from the given one.')
    .action(lazy(async () => (await import('../commands/servers.ts')).runRefresh));
  program
    .command('restart')
    .argument('[server]', 'its name in the configuration')
    .summary('restart a server, or the gateway')
    .description(
      'Stop a server, reset its failure count, and start it again. Without a server, replace the background gateway by one with the environment of this shell; clients continue with their next request.',
    )
    .action(lazy(async () => (await import('../commands/servers.ts')).runRestart));
  program
    .command('doctor')
    .summary('find problems and how to fix them')
    .description(
      'Check the configuration, the programs it names, the servers, ports, files and processes. Prints how to fix each problem.',
    )
    .action(lazy(async () => (await import('../commands/doctor.ts')).runDoctor));
  program
    .command('why')
    .argument('<name>', 'the name of a tool, prompt, resource or server')
    .summary('explain why a tool is hidden, renamed or unreachable')
    .description('Explain why a tool is hidden, refused, renamed or unreachable. Does not start anything.')
    .option(
      '--client <name>',
      'also explain how the tool differs for this client, for example claude-code or cursor',
    )
    .action(lazy(async () => (await import('../commands/why.ts')).runWhy));
  program
    .command('preflight')
    .argument('<names...>', 'the names of tools')
    .summary('check that tools are ready, without starting anything')
    .description(
      'Check that tools are ready, without starting anything. Exit code 0: all are ready, 10: not yet, 11: blocked, 12: unknown.',
    )
    .action(lazy(async () => (await import('../commands/preflight.ts')).runPreflight));
}
