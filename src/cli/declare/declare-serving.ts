import { Option } from 'commander';
import { adHoc, collect } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands that serve MCP clients. */
export function declareServing({ program, run }: Declare): void {
  program.commandsGroup('Serve MCP clients:');
  program
    .command('serve')
    .summary('be an MCP server in front of all configured ones')
    .description(
      'Be an MCP server in front of all configured ones: over standard input and output, or over HTTP.',
    )
    .addOption(
      new Option(
        '--http [address]',
        'listen for HTTP instead; without an address on http.address of the configuration',
      ).env('TRUNKLINE_HTTP'),
    )
    .addOption(
      new Option('--expose <kind>', 'how tools are shown to clients')
        .choices(['auto', 'direct', 'search', 'code'])
        .env('TRUNKLINE_EXPOSE'),
    )
    .addOption(
      new Option(
        '--profile <name>',
        'show what this profile of the configuration selects; over HTTP profiles are at /mcp/p/NAME',
      ).env('TRUNKLINE_PROFILE'),
    )
    .addOption(
      new Option(
        '--server <name=server>',
        'serve this server: NAME=URL or NAME="command args"; may be repeated; without --config there are no others',
      )
        .argParser(collect)
        .env('TRUNKLINE_SERVER'),
    )
    .addOption(
      new Option('--standalone', "serve in this very process instead of through the user's gateway").env(
        'TRUNKLINE_STANDALONE',
      ),
    )
    .addOption(new Option('--background', "be the user's gateway").hideHelp())
    .addOption(new Option('--project', 'use only what a person trusts of the configuration').hideHelp())
    .addOption(
      new Option('--log-level <level>', 'how much to say on standard error')
        .choices(['debug', 'info', 'warn', 'error'])
        .env('TRUNKLINE_LOG_LEVEL'),
    )
    .action(run(async () => (await import('../commands/serve.ts')).serve));
  program
    .command('status')
    .summary('say what the gateway of this user does')
    .description(
      'Say whether the gateway of this configuration runs, for how many clients, and what is wrong with its servers. Nothing is started.',
    )
    .action(run(async () => (await import('../commands/status.ts')).status));
  program
    .command('stop')
    .summary('end the gateway of this user')
    .description(
      'End the gateway of this configuration and the servers it has started. Calls under way are answered first; clients that are connected get a new one when they ask for something.',
    )
    .action(run(async () => (await import('../commands/stop.ts')).stop));
  program
    .command('dashboard')
    .summary('open the page that shows and manages all of it')
    .description(
      'Open the dashboard of the gateway of this configuration in a browser, signed in by a link that works once. Where no gateway runs, one is started in the background.',
    )
    .option('--print', 'print the link instead; it is good for five minutes')
    .action(run(async () => (await import('../commands/dashboard.ts')).dashboard));
  adHoc(program.command('wrap'))
    .summary('be one server, answering before it has started')
    .description(
      'Be the server that a command starts, or that is at a URL, for one client over standard input and output: everything passes ' +
        'as it is, names and all, and what it listed the last time is answered before it has started. No configuration is used.',
    )
    .addOption(
      new Option('--log-level <level>', 'how much to say on standard error')
        .choices(['debug', 'info', 'warn', 'error'])
        .env('TRUNKLINE_LOG_LEVEL'),
    )
    .action(run(async () => (await import('../commands/wrap.ts')).wrap));
}
