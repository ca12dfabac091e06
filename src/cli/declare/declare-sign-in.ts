import { Option } from 'commander';
import { parsePositiveInteger } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands for signing in to servers. */
export function declareSignIn({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Sign in to servers:');
  program
    .command('login')
    .argument('<server>', 'its name in the configuration')
    .summary('sign in to a server')
    .description(
      'Sign in to an HTTP server that requires it, in a browser on this machine, or with --device in a browser elsewhere. A running gateway uses the sign-in within a second.',
    )
    .option('--device', 'enter a code in a browser on another machine')
    .option('--token', 'read a token that you created yourself from standard input')
    .option('--from-mcp-remote', 'import the tokens that mcp-remote has for this server')
    .option('--no-browser', 'print the URL instead of opening a browser')
    .option('--caller <id>', 'sign in for this caller only, if callers sign in separately (auth.per)')
    .addOption(
      new Option('--timeout <seconds>', 'how long to wait for the browser').argParser(parsePositiveInteger),
    )
    .action(lazy(async () => (await import('../commands/login.ts')).runLogin));
  program
    .command('logout')
    .argument('<server>', 'its name in the configuration')
    .summary('sign out of a server')
    .description('Delete the tokens of a server, and revoke them if the authorization server supports it.')
    .option('--caller <id>', 'sign out this caller only')
    .action(lazy(async () => (await import('../commands/logout.ts')).runLogout));
  program
    .command('auth')
    .summary('list sign-ins: account, expiry, problems')
    .description(
      'List the HTTP servers with their sign-in: state, account if it is known, expiry of the token, and the last problem.',
    )
    .action(lazy(async () => (await import('../commands/auth.ts')).runAuth));
  declareSecrets(program, lazy);
}

function declareSecrets(program: CommandRegistrar['program'], lazy: CommandRegistrar['lazy']): void {
  const secret = program
    .command('secret')
    .summary('store values that servers need')
    .description(
      'Store passwords and keys under a name, in the keychain of this system or, where there is none, encrypted in the database. In the configuration, ${secret:NAME} stands for the value.',
    );
  secret
    .command('set')
    .argument('<name>', 'such as GITHUB_TOKEN')
    .allowExcessArguments()
    .summary('store a value')
    .description(
      'Read a value from a hidden prompt, or from standard input, and store it. A running gateway restarts the servers that refer to it. If the environment variable of this name is not set, references to it get the stored value.',
    )
    .action(lazy(async () => (await import('../commands/secret.ts')).runSecretSet));
  secret
    .command('list')
    .summary('list the names')
    .description('List the names of the stored secrets, and where each is stored. The values are not shown.')
    .action(lazy(async () => (await import('../commands/secret.ts')).runSecretList));
  secret
    .command('rm')
    .argument('<name>', 'the name of the secret')
    .summary('delete a value')
    .description('Delete a stored secret.')
    .action(lazy(async () => (await import('../commands/secret.ts')).runSecretRemove));
}
