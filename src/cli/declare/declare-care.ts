import type { Declare } from '../declare.ts';

/** Commands that look after servers and say what is wrong. */
export function declareCare({ program, run }: Declare): void {
  program.commandsGroup('Look after servers:');
  program
    .command('servers')
    .summary('list servers and their states')
    .description('List the configured servers: state, transport, number of tools, age of the listing.')
    .action(run(async () => (await import('../commands/servers.ts')).servers));
  program
    .command('refresh')
    .argument('[server]', 'only this one')
    .summary('ask servers again what they offer')
    .description('Ask all servers, or one, again what they offer.')
    .action(run(async () => (await import('../commands/servers.ts')).refresh));
  program
    .command('restart')
    .argument('<server>', 'its name in the configuration')
    .summary('end a server and start it again')
    .description('End a server, forget its failures, and start it again.')
    .action(run(async () => (await import('../commands/servers.ts')).restart));
  program
    .command('doctor')
    .summary('find out what is wrong, and how to mend it')
    .description(
      'Check the configuration, the programs it names, the servers, ports, files and processes, and say how to mend what is wrong.',
    )
    .action(run(async () => (await import('../commands/doctor.ts')).doctor));
  program
    .command('why')
    .argument('<name>', 'of a tool, prompt, resource or server')
    .summary('say why a tool is hidden, renamed or unreachable')
    .description('Say why a tool is hidden, refused, renamed or unreachable. Nothing is started.')
    .option('--client <name>', 'also say what this client sees otherwise, such as claude-code or cursor')
    .action(run(async () => (await import('../commands/why.ts')).why));
  program
    .command('preflight')
    .argument('<names...>', 'of tools')
    .summary('check that tools are ready, starting nothing')
    .description(
      'Check that tools are ready, from what is known, starting nothing. Exit code 0: all are ready, 10: not yet, 11: blocked, 12: unknown.',
    )
    .action(run(async () => (await import('../commands/preflight.ts')).preflight));
}
