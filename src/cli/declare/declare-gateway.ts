import { Option } from 'commander';
import { withAdHocServer, collectValues } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that serve MCP clients and control the gateway. */
export function declareGateway(registrar: CommandRegistrar): void {
  registrar.program.commandsGroup('Serve MCP clients:');
  declareServe(registrar);
  declareGatewayControl(registrar);
  declareWrap(registrar);
}

function declareServe({ program, lazy }: CommandRegistrar): void {
  program
    .command('serve')
    .summary('serve all configured servers as one MCP server')
    .description(
      'Serve all configured servers as one MCP server, over standard input and output or over HTTP.',
    )
    .addOption(
      new Option(
        '--http [address]',
        'listen for HTTP; without an address, on http.address of the configuration',
      ).env('TRUNKLINE_HTTP'),
    )
    .addOption(
      new Option('--expose <kind>', 'how tools are presented to clients')
        .choices(['auto', 'direct', 'search', 'code'])
        .env('TRUNKLINE_EXPOSE'),
    )
    .addOption(
      new Option(
        '--profile <name>',
        'serve only what this profile selects; over HTTP, profiles are at /mcp/p/NAME',
      ).env('TRUNKLINE_PROFILE'),
    )
    .addOption(
      new Option(
        '--server <name=server>',
        'serve this server: NAME=URL or NAME="command args"; may be repeated; without --config, no others are served',
      )
        .argParser(collectValues)
        .env('TRUNKLINE_SERVER'),
    )
    .addOption(
      new Option('--standalone', 'serve in this process instead of through the background gateway').env(
        'TRUNKLINE_STANDALONE',
      ),
    )
    .addOption(new Option('--background', 'run the background gateway').hideHelp())
    .addOption(
      new Option('--project', 'use only versions of the configuration that the user has trusted').hideHelp(),
    )
    .addOption(
      new Option('--log-level <level>', 'the log level on standard error')
        .choices(['debug', 'info', 'warn', 'error'])
        .env('TRUNKLINE_LOG_LEVEL'),
    )
    .action(lazy(async () => (await import('../commands/serve.ts')).runServe));
}

function declareGatewayControl({ program, lazy }: CommandRegistrar): void {
  program
    .command('status')
    .summary('print the state of the gateway')
    .description(
      'Print whether the gateway of this configuration runs, how many clients it has, and the problems of its servers. Does not start anything.',
    )
    .action(lazy(async () => (await import('../commands/status.ts')).runStatus));
  program
    .command('stop')
    .summary('stop the gateway')
    .description(
      'Stop the gateway of this configuration and its servers. Running calls are answered first. Connected clients start a new gateway with their next request.',
    )
    .action(lazy(async () => (await import('../commands/stop.ts')).runStop));
  program
    .command('dashboard')
    .summary('open the dashboard in a browser')
    .description(
      'Open the dashboard of the gateway in a browser, signed in by a single-use link. Starts a gateway in the background if none runs.',
    )
    .option('--print', 'print the link instead, which is valid for five minutes')
    .action(lazy(async () => (await import('../commands/dashboard.ts')).runDashboard));
}

function declareWrap({ program, lazy }: CommandRegistrar): void {
  withAdHocServer(program.command('wrap'))
    .summary('serve one server, with listings from the cache')
    .description(
      'Serve one server, started by a command or at a URL, to one client over standard input and output. Messages and names pass ' +
        'unchanged. Until the server has started, listings are answered from the cache. Does not use the configuration.',
    )
    .addOption(
      new Option('--log-level <level>', 'the log level on standard error')
        .choices(['debug', 'info', 'warn', 'error'])
        .env('TRUNKLINE_LOG_LEVEL'),
    )
    .option('--init-timeout <duration>', 'the time limit for starting the server, such as 30s or 2m')
    .option('--refresh', 'discard the cached listings, so that the first answer waits for the server')
    .action(lazy(async () => (await import('../commands/wrap.ts')).runWrap));
}
