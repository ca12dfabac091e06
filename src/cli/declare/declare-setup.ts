import { Option } from 'commander';
import { collectValues, parsePositiveInteger } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that set up servers and clients. */
export function declareSetup(registrar: CommandRegistrar): void {
  registrar.program.commandsGroup('Set up:');
  declareInit(registrar);
  declareAdd(registrar);
  declareRegistry(registrar);
  declareClientCommands(registrar);
  declareServerEdits(registrar);
  declareUninstall(registrar);
}

const registryOption = (): Option =>
  new Option('--registry <url>', 'use this registry instead of the official one').env('TRUNKLINE_REGISTRY');
const referencesOption = (): Option =>
  new Option(
    '--references [where]',
    'where to move plaintext secrets; references take their place. env (the default): variables that you set; secret: the keychain, or the encrypted database if there is none; file: files that only you can read; keep: the secrets stay',
  ).choices(['env', 'secret', 'file', 'keep']);
const trustOption = (): Option =>
  new Option(
    '--trust',
    'do not hold new servers for approval, even without a terminal or from a project file',
  );
const conflictsOption = (): Option =>
  new Option(
    '--conflicts <what>',
    'if a name is taken: keep the existing server (the default), rename the new one, or replace the existing one',
  ).choices(['keep', 'rename', 'replace']);
const yesOption = (): Option => new Option('--yes', 'do not ask questions');

function declareAdd({ program, lazy }: CommandRegistrar): void {
  const repeated = (flags: string, description: string): Option =>
    new Option(flags, description).argParser(collectValues);
  program
    .command('add')
    .argument('[name]', 'the name of the new server; or a link, a file or JSON that contains it')
    .argument(
      '[source]',
      'a URL, an installation link, a .mcpb or server.json file, JSON, or - for JSON on standard input',
    )
    .usage('<name> [options] <url | command… | -- command…>')
    .allowExcessArguments()
    .summary('add a server')
    .description(
      'Add a server to the configuration: a program, a URL, a command-line program, a server of the registry, a bundle (.mcpb), a server.json, or whatever the documentation of a server tells you to paste: the JSON of any client, an installation link of Cursor or VS Code, or a whole command such as claude mcp add. Options after the program belong to the program. At a terminal, Trunkline connects to the server at once, and the exit code reports the result. A program with relative paths is always started in the current folder.',
    )
    .option('--url <url>', 'add the server at this URL')
    .option('--sse <url>', 'add the server at this URL, over the older HTTP+SSE transport only')
    .option(
      '--cli [command]',
      'add a command-line program whose subcommands become tools; without a value, the command after --',
    )
    .option('--from-registry <name>', 'add a server of the MCP registry, such as io.github.someone/weather')
    .addOption(registryOption())
    .addOption(
      new Option('-t, --transport <kind>', 'the transport of the server (default: detected)').choices([
        'stdio',
        'http',
        'streamable-http',
        'sse',
      ]),
    )
    .addOption(
      repeated('-e, --env <name=value>', 'set this environment variable for the program; may be repeated'),
    )
    .addOption(
      repeated(
        '-H, --header <name: value>',
        'send this header to the URL; NAME=VALUE works as well; may be repeated',
      ),
    )
    .option('--bearer-token-env-var <variable>', 'send the token in this environment variable to the URL')
    .addOption(repeated('--set <key=value>', 'set this value that a bundle asks for; may be repeated'))
    .option('--cwd <folder>', 'start the program in this folder')
    .addOption(
      new Option(
        '-s, --scope <scope>',
        'user: your own configuration; project: trunkline.jsonc in the current folder; local: as user (default: the configuration that other commands use)',
      ).choices(['user', 'project', 'local']),
    )
    .addOption(repeated('--tag <word>', 'a tag for profiles and rules; may be repeated'))
    .addOption(referencesOption())
    .option('--replace', 'replace an existing server of this name')
    .addOption(trustOption())
    .addOption(yesOption())
    .action(lazy(async () => (await import('../commands/add.ts')).runAdd));
}

function declareServerEdits({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Change servers:');
  const serverCommand = (command: string, summary: string, description: string) =>
    program
      .command(command)
      .argument('<server>', 'its name in the configuration')
      .summary(summary)
      .description(description);
  program
    .command('remove')
    .argument('<server...>', 'their names in the configuration')
    .summary('remove servers')
    .description(
      'Remove servers from the configuration. If one of the names is unknown, none is removed. An unpacked bundle is deleted.',
    )
    .action(lazy(async () => (await import('../commands/remove.ts')).runRemove));
  serverCommand('enable', 'enable a server', 'Enable a server that was disabled.').action(
    lazy(async () => (await import('../commands/switch.ts')).runEnable),
  );
  serverCommand(
    'disable',
    'disable a server',
    'Disable a server. Its entry stays in the configuration.',
  ).action(lazy(async () => (await import('../commands/switch.ts')).runDisable));
  program
    .command('edit')
    .argument('[server]', 'open the editor at this server')
    .summary('edit the configuration')
    .description(
      'Open the configuration in your editor (VISUAL, EDITOR). An invalid version is not saved, but kept as a draft.',
    )
    .action(lazy(async () => (await import('../commands/edit.ts')).runEdit));
}

function declareRegistry({ program, lazy }: CommandRegistrar): void {
  const registry = program
    .command('registry')
    .summary('search the MCP registry, and update servers from it')
    .description('Use the official registry of MCP servers, or another one with the same API.');
  registry
    .command('search')
    .argument('<text...>', 'part of the name')
    .summary('find servers by name')
    .description('Find servers of the MCP registry by name.')
    .addOption(
      new Option('--limit <count>', 'the maximum number of servers (default: 20)').argParser(
        parsePositiveInteger,
      ),
    )
    .addOption(registryOption())
    .action(lazy(async () => (await import('../commands/registry-search.ts')).runRegistrySearch));
  registry
    .command('update')
    .argument('[server...]', 'only these servers')
    .summary('update servers of the registry')
    .description(
      'Update servers that were added from the registry to their newest versions. Your own settings, such as values and arguments after the package, do not change.',
    )
    .addOption(registryOption())
    .option('--dry-run', 'only print what would be changed')
    .addOption(yesOption())
    .action(lazy(async () => (await import('../commands/registry-update.ts')).runRegistryUpdate));
}

function declareInit({ program, lazy }: CommandRegistrar): void {
  program
    .command('init')
    .summary('set up everything interactively')
    .description(
      'Set up everything in a minute: find the servers and clients on this machine, test the servers, import those that work, connect clients, and search for a first tool. Testing starts the programs of your own client files, as the clients do; files of the current folder are left out. No file is changed before the last question. Each option answers one question; without a terminal, --yes is required.',
    )
    .addOption(
      new Option(
        '--import <server>',
        'import this server, all, or none; may be repeated (default: those that work)',
      ).argParser(collectValues),
    )
    .addOption(
      new Option('--connect <client>', 'connect this client, all, or none; may be repeated').argParser(
        collectValues,
      ),
    )
    .option('--no-test', 'do not connect to the servers before they are imported')
    .option('--search <text>', 'search for this at the end; "" for no search')
    .addOption(referencesOption())
    .addOption(trustOption())
    .option('--yes', 'ask nothing: import the servers that work, and connect only the named clients')
    .action(lazy(async () => (await import('../commands/init.ts')).runInit));
}

function declareClientCommands({ program, lazy }: CommandRegistrar): void {
  program
    .command('import')
    .summary('import the servers of other clients')
    .description(
      'Find the servers of other clients on this machine, print the plan with the whole command of each, and add them to the configuration. Does not change the clients. Files of the current folder, such as .mcp.json, are left out unless --from names them, and their servers are held for approval.',
    )
    .addOption(
      new Option(
        '--from <client>',
        'import only from this client, such as claude-code or codex, or from this file; may be repeated',
      ).argParser(collectValues),
    )
    .addOption(
      new Option('--only <server>', 'import only this server; may be repeated').argParser(collectValues),
    )
    .addOption(conflictsOption())
    .addOption(referencesOption())
    .option('--dry-run', 'only print what would be changed')
    .addOption(trustOption())
    .addOption(yesOption())
    .action(lazy(async () => (await import('../commands/import.ts')).runImport));
  program
    .command('connect')
    .argument(
      '<client>',
      'a client such as claude-code, codex or cursor, or other; an unknown name prints all names',
    )
    .summary('connect a client to Trunkline')
    .description(
      'Write Trunkline into the configuration of a client, and move the servers of that client to Trunkline. The rest of the file does not change, a copy is kept, and --undo restores it byte for byte. For any other client, trunkline connect other prints the entry to paste.',
    )
    .option('--undo', 'restore the configuration of the client')
    .option('--split', 'write one entry per server; the entries need a gateway that runs with serve --http')
    .option('--merge', 'with --undo: restore only the servers, and keep other changes')
    .addOption(conflictsOption())
    .addOption(referencesOption())
    .option('--dry-run', 'only print what would be changed')
    .addOption(trustOption())
    .addOption(yesOption())
    .action(lazy(async () => (await import('../commands/connect.ts')).runConnect));
}

function declareUninstall({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Remove Trunkline:');
  program
    .command('uninstall')
    .summary('disconnect all clients and delete the state')
    .description(
      'Revert what Trunkline has changed on this machine, before you remove the program: restore the configuration of all connected clients, stop all gateways of this user, and delete the state folder. Prints the plan and asks first. Your configuration, secrets in the system keychain, and a shared database stay.',
    )
    .option('--keep-state', 'keep the state folder: sign-ins, approvals, API keys and the audit log')
    .option('--dry-run', 'only print what would be changed')
    .addOption(yesOption())
    .action(lazy(async () => (await import('../commands/uninstall.ts')).runUninstall));
}
