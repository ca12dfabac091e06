import { Argument, Option } from 'commander';
import { adHoc, count } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands that use what servers offer. */
export function declareUse(declare: Declare): void {
  declare.program.commandsGroup('Use tools:');
  declareFinding(declare);
  declareCalling(declare);
}

function declareFinding({ program, run }: Declare): void {
  const server = (): Argument => new Argument('[server]', 'only what this server offers');
  adHoc(
    program
      .command('search')
      .argument('<query...>', 'what the tool does; - reads one query per line from standard input')
      .summary('find tools by what they do')
      .description(
        'Find tools by what they do. With - each line of standard input is answered with one line of JSON.',
      )
      .addOption(
        new Option(
          '--limit <count>',
          'how many, weak matches included (default: the good ones, at most 10)',
        ).argParser(count),
      )
      .option('--server <name>', 'only tools of this server')
      .action(run(async () => (await import('../commands/search.ts')).search)),
  );
  adHoc(
    program
      .command('tools')
      .addArgument(server())
      .summary('list tools')
      .description('List the tools of all servers, or of one.')
      .action(run(async () => (await import('../commands/tools.ts')).tools)),
  );
  adHoc(
    program
      .command('describe')
      .argument('<name...>', 'a tool, or a server and its own name of the tool')
      .summary('show a tool and its parameters')
      .description('Show a tool and its parameters, the required ones first.')
      .action(run(async () => (await import('../commands/describe.ts')).describe)),
  );
  adHoc(
    program
      .command('prompts')
      .addArgument(server())
      .summary('list prompts')
      .description('List the prompts of all servers, or of one.')
      .action(run(async () => (await import('../commands/prompts.ts')).prompts)),
  );
  adHoc(
    program
      .command('resources')
      .addArgument(server())
      .summary('list resources')
      .description('List the resources and resource templates of all servers, or of one.')
      .action(run(async () => (await import('../commands/resources.ts')).resources)),
  );
}

function declareCalling({ program, run }: Declare): void {
  const out = (): Option => new Option('--out <folder>', 'save images, audio and files there');
  adHoc(
    program
      .command('call')
      .argument('<name>', 'a tool, or a server and its own name of the tool')
      .argument('[arguments...]', 'JSON, key=value, key:=json, @file, or - for standard input')
      .summary('call a tool')
      .description(
        'Call a tool. Its arguments are a JSON object, key=value (read as the schema says), key:=json, @file, or - for standard input. They are checked before anything is started.',
      )
      .addOption(out())
      .addOption(
        new Option('--timeout <duration>', 'give up after this long, such as 500ms, 30s or 5m').env(
          'TRUNKLINE_TIMEOUT',
        ),
      )
      .action(run(async () => (await import('../commands/call.ts')).call)),
  );
  adHoc(
    program
      .command('prompt')
      .argument('<name>', 'a prompt, or a server and its own name of the prompt')
      .argument('[arguments...]', 'JSON, key=value, @file, or - for standard input')
      .summary('print a prompt, filled in')
      .description('Print a prompt with its arguments filled in.')
      .addOption(out())
      .action(run(async () => (await import('../commands/prompt.ts')).prompt)),
  );
  adHoc(
    program
      .command('read')
      .argument('<uri>', 'of a resource')
      .summary('print a resource')
      .description(
        'Print a resource. Where standard output is no terminal its content is written as it is, whatever it is; --json prints the answer of the server instead.',
      )
      .addOption(out())
      .option('--server <name>', 'ask this server, under its own URI')
      .action(run(async () => (await import('../commands/read.ts')).read)),
  );
}
