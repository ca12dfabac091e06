import { Option } from 'commander';
import { collect, count } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands that change which servers and clients there are. */
export function declareSetUp(declare: Declare): void {
  declare.program.commandsGroup('Set up:');
  declareInit(declare);
  declareAdding(declare);
  declareRegistry(declare);
  declareMoving(declare);
}

const registry = (): Option =>
  new Option('--registry <url>', 'ask this registry instead of the official one').env('TRUNKLINE_REGISTRY');
const references = (): Option =>
  new Option(
    '--references [where]',
    'write secrets in plain text as references: env (the default) to variables that you set, file to files that only you can read',
  ).choices(['env', 'file', 'keep']);
const trusting = (): Option =>
  new Option('--trust', 'without a terminal: take what it offers without waiting for a person');
const conflicts = (): Option =>
  new Option(
    '--conflicts <what>',
    'with servers whose name is taken: keep ours (the default), rename theirs, or replace ours',
  ).choices(['keep', 'rename', 'replace']);
const yes = (): Option => new Option('--yes', 'ask nothing');

function declareAdding({ program, run }: Declare): void {
  program
    .command('add')
    .argument('[name]', 'under which it is configured')
    .usage('<name> [options] [-- command…]')
    .allowExcessArguments()
    .summary('add a server')
    .description(
      'Add a server to the configuration: a program (what follows --), an address, a command-line program or one of the registry. At a terminal it is tried at once, and the exit code says how that went. A program whose words name something in the current folder is always started there.',
    )
    .option('--url <url>', 'a server at this address')
    .option('--sse <url>', 'the same, over the older HTTP+SSE only')
    .option('--cli <command>', 'a command-line program whose subcommands become tools')
    .option('--from-registry <name>', 'a server of the MCP registry, such as io.github.someone/weather')
    .addOption(registry())
    .addOption(
      new Option('--env <name=value>', 'a variable of the program; may be repeated').argParser(collect),
    )
    .addOption(
      new Option(
        '--header <name: value>',
        'send this header to the address, also as NAME=VALUE; may be repeated',
      ).argParser(collect),
    )
    .addOption(new Option('--tag <word>', 'a word to select it by; may be repeated').argParser(collect))
    .addOption(references())
    .option('--replace', 'replace the server of this name')
    .addOption(trusting())
    .addOption(yes())
    .action(run(async () => (await import('../commands/add.ts')).add));
  const named = (command: string, summary: string, description: string) =>
    program
      .command(command)
      .argument('<server>', 'its name in the configuration')
      .summary(summary)
      .description(description);
  named('remove', 'remove a server', 'Remove a server from the configuration.').action(
    run(async () => (await import('../commands/remove.ts')).remove),
  );
  named('enable', 'use a server again', 'Use a server again that was disabled.').action(
    run(async () => (await import('../commands/switch.ts')).enable),
  );
  named(
    'disable',
    'keep a server but do not use it',
    'Keep a server in the configuration but do not use it.',
  ).action(run(async () => (await import('../commands/switch.ts')).disable));
  program
    .command('edit')
    .argument('[server]', 'begin at this one')
    .summary('edit the configuration')
    .description(
      'Open the configuration in your editor (VISUAL, EDITOR). What could not be used afterwards is not saved: it stays in a draft.',
    )
    .action(run(async () => (await import('../commands/edit.ts')).edit));
}

function declareRegistry({ program, run }: Declare): void {
  const ofRegistry = program
    .command('registry')
    .summary('search the MCP registry, and update from it')
    .description('The official registry of MCP servers, or another one that speaks its API.');
  ofRegistry
    .command('search')
    .argument('<text...>', 'part of the name')
    .summary('find servers by their names')
    .description('Find servers of the MCP registry by their names.')
    .addOption(new Option('--limit <count>', 'how many at most (default: 20)').argParser(count))
    .addOption(registry())
    .action(run(async () => (await import('../commands/registry-search.ts')).registrySearch));
  ofRegistry
    .command('update')
    .argument('[server...]', 'only these')
    .summary('bring servers of the registry to their newest versions')
    .description(
      'Bring servers that were added from the registry to their newest versions. What you set yourself stays: values, words behind the package, all other settings.',
    )
    .addOption(registry())
    .option('--dry-run', 'only show what would be done')
    .addOption(yes())
    .action(run(async () => (await import('../commands/registry-update.ts')).registryUpdate));
}

function declareInit({ program, run }: Declare): void {
  program
    .command('init')
    .summary('set up everything, with a few questions')
    .description(
      'Set up everything in a minute: find the servers and clients of this machine, take over servers, connect a client, and find a first tool. Each option answers a question; without a terminal nothing is done.',
    )
    .addOption(
      new Option('--import <server>', 'take over this server, all, or none; may be repeated').argParser(
        collect,
      ),
    )
    .addOption(
      new Option('--connect <client>', 'connect this client, or none; may be repeated').argParser(collect),
    )
    .option('--search <text>', 'what to search for at the end; "" for nothing')
    .addOption(references())
    .option('--yes', 'take over all new servers, connect nothing that was not named, ask nothing')
    .action(run(async () => (await import('../commands/init.ts')).init));
}

function declareMoving({ program, run }: Declare): void {
  program
    .command('import')
    .summary("take over other clients' servers")
    .description(
      'Find the servers that other clients on this machine have, show what would be taken over, and add them to the configuration. Nothing is changed in the clients.',
    )
    .addOption(
      new Option(
        '--from <client>',
        'only from this client (claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex, gemini-cli, cline, continue, mcpzip, mcp, mcproxy, mcpproxy, 1mcp) or file; may be repeated',
      ).argParser(collect),
    )
    .addOption(
      new Option('--only <server>', 'only the server of this name; may be repeated').argParser(collect),
    )
    .addOption(conflicts())
    .addOption(references())
    .option('--dry-run', 'only show what would be done')
    .addOption(trusting())
    .addOption(yes())
    .action(run(async () => (await import('../commands/import.ts')).importServers));
  program
    .command('connect')
    .argument(
      '<client>',
      'claude-desktop, claude-code, cursor, vscode, windsurf, zed, codex, gemini-cli, cline, continue, or other',
    )
    .summary('put Trunkline in front of a client')
    .description(
      "Write Trunkline into the configuration of a client, and move that client's own servers behind it. Everything else in the file stays as it is, a copy is kept, and --undo puts it back to the byte. other prints what any other client takes.",
    )
    .option('--undo', 'put the configuration of the client back as it was')
    .option('--merge', 'with --undo: put only the servers back, and keep what else has changed')
    .addOption(conflicts())
    .addOption(references())
    .option('--dry-run', 'only show what would be done')
    .addOption(trusting())
    .addOption(yes())
    .action(run(async () => (await import('../commands/connect.ts')).connect));
}
