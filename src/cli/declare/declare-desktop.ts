import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that watch and pause the gateway. */
export function declareDesktop({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Watch and pause:');
  program
    .command('tray')
    .summary('show the gateway as a desktop icon')
    .description(
      'Show the gateway as a desktop icon. Its menu lists what needs your attention, enables and disables servers, opens the dashboard, and pauses and resumes calls. The icon stays until you quit it, even while no gateway runs.',
    )
    .action(lazy(async () => (await import('../commands/tray.ts')).runTrayCommand));
  program
    .command('pause')
    .summary('refuse all calls until resume')
    .description(
      'Refuse all calls of all clients until trunkline resume, including in gateways that start later. Running calls finish, and listings still work.',
    )
    .action(lazy(async () => (await import('../commands/pause.ts')).runPause));
  program
    .command('resume')
    .summary('allow calls again')
    .description('Allow calls again after trunkline pause.')
    .action(lazy(async () => (await import('../commands/pause.ts')).runResume));
}
