import { Option } from 'commander';
import { collect } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands about who may call over HTTP. */
export function declareAccess({ program, run }: Declare): void {
  program.commandsGroup('Let others call:');
  const keys = program
    .command('keys')
    .summary('make, list and revoke keys for callers over HTTP')
    .description(
      'Make, list and revoke keys for callers over HTTP. They are accepted where the configuration has "auth": { "keys": true }.',
    );
  keys
    .command('add')
    .argument('<name>', 'of whoever gets the key')
    .summary('make a key, which is shown once')
    .description(
      'Make a key. It is printed once and stored as a hash; a gateway that runs accepts it at once. The caller is called key:NAME in rules and records.',
    )
    .option('--profile <name>', 'bind it to this profile, which it then cannot leave')
    .addOption(
      new Option('--tier <tier>', 'the most that a tool may do for the caller to see it').choices([
        ...['read', 'write', 'destructive'],
      ]),
    )
    .option('--expires <time>', 'when it ends, such as 12h, 30d or 1y; without it, when it is revoked')
    .addOption(new Option('--group <name>', 'a group of the caller; may be repeated').argParser(collect))
    .addOption(new Option('--role <name>', 'a role of the caller; may be repeated').argParser(collect))
    .action(run(async () => (await import('../commands/keys.ts')).addKey));
  keys
    .command('list')
    .summary('list keys: what they may, when they end, when they were used')
    .description(
      'List keys: what they may, when they end, when they were last used. The keys themselves are nowhere.',
    )
    .action(run(async () => (await import('../commands/keys.ts')).listKeys));
  keys
    .command('revoke')
    .argument('<name>', 'of the key')
    .summary('end a key now')
    .description(
      'End a key now, with its sessions and with what clients were given on its strength. A gateway that runs refuses it at once.',
    )
    .action(run(async () => (await import('../commands/keys.ts')).revokeKey));
}
