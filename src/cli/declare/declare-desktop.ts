import type { Declare } from '../declare.ts';

/** Commands that watch the gateway and hold it back. */
export function declareDesktop({ program, run }: Declare): void {
  program.commandsGroup('Watch and pause:');
  program
    .command('tray')
    .summary('show the gateway as an icon of the desktop')
    .description(
      'Show the gateway as an icon of the desktop, with a menu: what needs you, servers on and off, the dashboard, pause and resume. It runs until you quit it; gateways may come and go.',
    )
    .action(run(async () => (await import('../commands/tray.ts')).tray));
  program
    .command('pause')
    .summary('refuse all calls until resume')
    .description(
      'Refuse every call of every client until trunkline resume, also in gateways that are started later. Calls under way go on, and lists are answered as always.',
    )
    .action(run(async () => (await import('../commands/pause.ts')).pause));
  program
    .command('resume')
    .summary('let calls through again')
    .description('Let calls through again after trunkline pause.')
    .action(run(async () => (await import('../commands/pause.ts')).resume));
}
