import { Option } from 'commander';
import { count } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands about signing in to servers. */
export function declareSignIn({ program, run }: Declare): void {
  program.commandsGroup('Sign in to servers:');
  program
    .command('login')
    .argument('<server>', 'its name in the configuration')
    .summary('sign in to a server that asks for it')
    .description(
      'Sign in to a server over HTTP that asks for it: in a browser on this machine, or with --device in one elsewhere. A gateway that runs notices within a second.',
    )
    .option('--device', 'type a code into a browser on another machine')
    .option('--token', 'read a token that you made by hand from standard input')
    .option('--from-mcp-remote', 'take over the tokens that mcp-remote has for this very server')
    .option('--no-browser', 'print the address instead of opening a browser')
    .option('--caller <id>', 'for this caller only, where callers sign in by themselves (auth.per)')
    .addOption(new Option('--timeout <seconds>', 'how long to wait for the browser').argParser(count))
    .action(run(async () => (await import('../commands/login.ts')).login));
  program
    .command('logout')
    .argument('<server>', 'its name in the configuration')
    .summary('forget the sign-in to a server')
    .description('Forget the sign-in to a server, and revoke its tokens where the authorization server can.')
    .option('--caller <id>', 'of this caller only')
    .action(run(async () => (await import('../commands/logout.ts')).logout));
  program
    .command('auth')
    .summary('list sign-ins: who, until when, what is wrong')
    .description(
      'List the servers over HTTP with their sign-in: state, account where it is known, when the token ends, and what went wrong last.',
    )
    .action(run(async () => (await import('../commands/auth.ts')).auth));
}
