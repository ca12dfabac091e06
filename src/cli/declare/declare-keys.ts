import { Option } from 'commander';
import { collectValues } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that give callers access over HTTP. */
export function declareKeys({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Give others access:');
  const keys = program
    .command('keys')
    .summary('create, list and revoke keys for callers over HTTP')
    .description(
      'Create, list and revoke keys for callers over HTTP. Keys require "auth": { "keys": true } in the configuration.',
    );
  keys
    .command('add')
    .argument('<name>', 'the name of the caller that gets the key')
    .summary('create a key, which is shown once')
    .description(
      'Create a key. It is printed once and stored as a hash. A running gateway accepts it at once. Rules and audit records call the caller key:NAME.',
    )
    .option('--profile <name>', 'restrict the key to this profile')
    .addOption(
      new Option('--tier <tier>', 'the highest tier of tools that the caller may use').choices([
        'read',
        'write',
        'destructive',
      ]),
    )
    .option(
      '--expires <time>',
      'how long the key is valid, such as 12h, 30d or 1y; by default, until it is revoked',
    )
    .addOption(
      new Option('--group <name>', 'a group of the caller; may be repeated').argParser(collectValues),
    )
    .addOption(new Option('--role <name>', 'a role of the caller; may be repeated').argParser(collectValues))
    .action(lazy(async () => (await import('../commands/keys.ts')).runKeysAdd));
  keys
    .command('list')
    .summary('list keys: permissions, expiry, last use')
    .description('List keys with their permissions, expiry and last use. The keys themselves are not stored.')
    .action(lazy(async () => (await import('../commands/keys.ts')).runKeysList));
  keys
    .command('revoke')
    .argument('<name>', 'the name of the key')
    .summary('revoke a key')
    .description(
      'Revoke a key, its sessions and the tokens that clients received for it. A running gateway rejects it at once.',
    )
    .action(lazy(async () => (await import('../commands/keys.ts')).runKeysRevoke));
}
