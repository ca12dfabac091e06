import { Argument, Option } from 'commander';
import { withAdHocServer, parsePositiveInteger } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that find and use tools, prompts and resources. */
export function declareTools(registrar: CommandRegistrar): void {
  registrar.program.commandsGroup('Use tools:');
  declareDiscovery(registrar);
  declareCalls(registrar);
}

function declareDiscovery({ program, lazy }: CommandRegistrar): void {
  const server = (): Argument => new Argument('[server]', 'only this server');
  withAdHocServer(
    program
      .command('search')
      .argument('<query...>', 'what the tool should do; - reads one query per line from standard input')
      .summary('find tools by what they do')
      .description(
        'Find tools by what they do. With -, each line of standard input is answered with one line of JSON.',
      )
      .addOption(
        new Option(
          '--limit <count>',
          'the maximum number of tools, including weak matches (default: good matches only, at most 10)',
        ).argParser(parsePositiveInteger),
      )
      .option('--server <name>', 'only tools of this server')
      .action(lazy(async () => (await import('../commands/search.ts')).runSearch)),
  );
  withAdHocServer(
    program
      .command('tools')
      .addArgument(server())
      .summary('list tools')
      .description('List the tools of all servers, or of one.')
      .action(lazy(async () => (await import('../commands/tools.ts')).runTools)),
  );
  withAdHocServer(
    program
      .command('describe')
      .argument('<name...>', 'the name of a tool, or a server followed by its own name for the tool')
      .summary('print a tool and its parameters')
      .description('Print a tool and its parameters, the required ones first.')
      .action(lazy(async () => (await import('../commands/describe.ts')).runDescribe)),
  );
  withAdHocServer(
    program
      .command('prompts')
      .addArgument(server())
      .summary('list prompts')
      .description('List the prompts of all servers, or of one.')
      .action(lazy(async () => (await import('../commands/prompts.ts')).runPrompts)),
  );
  withAdHocServer(
    program
      .command('resources')
      .addArgument(server())
      .summary('list resources')
      .description('List the resources and resource templates of all servers, or of one.')
      .action(lazy(async () => (await import('../commands/resources.ts')).runResources)),
  );
}

function declareCalls({ program, lazy }: CommandRegistrar): void {
  const out = (): Option => new Option('--out <folder>', 'save images, audio and files in this folder');
  withAdHocServer(
    program
      .command('call')
      .argument('<name>', 'the name of a tool, or a server followed by its own name for the tool')
      .argument('[arguments...]', 'JSON, key=value, key:=json, @file, or - for standard input')
      .summary('call a tool')
      .description(
        'Call a tool. Its arguments are a JSON object, key=value (converted to the type in the schema), key:=json, @file, or - for standard input. They are checked before anything is started.',
      )
      .addOption(out())
      .addOption(
        new Option('--timeout <duration>', 'cancel the call after this time, such as 500ms, 30s or 5m').env(
          'TRUNKLINE_TIMEOUT',
        ),
      )
      .action(lazy(async () => (await import('../commands/call.ts')).runCall)),
  );
  withAdHocServer(
    program
      .command('prompt')
      .argument('<name>', 'the name of a prompt, or a server followed by its own name for the prompt')
      .argument('[arguments...]', 'JSON, key=value, @file, or - for standard input')
      .summary('print a prompt with its arguments filled in')
      .description('Print a prompt with its arguments filled in.')
      .addOption(out())
      .action(lazy(async () => (await import('../commands/prompt.ts')).runPrompt)),
  );
  withAdHocServer(
    program
      .command('read')
      .argument('<uri>', 'the URI of a resource')
      .summary('print a resource')
      .description(
        'Print a resource. In a pipe, its content is written unchanged, even if it is binary. --json prints the whole answer of the server instead.',
      )
      .addOption(out())
      .option('--server <name>', 'read from this server; the URI is then the one that the server itself uses')
      .action(lazy(async () => (await import('../commands/read.ts')).runRead)),
  );
}
