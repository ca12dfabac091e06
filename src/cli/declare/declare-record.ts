import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { count } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands that say what was done. */
export function declareRecord({ program, run }: Declare): void {
  program.commandsGroup('See what was done:');
  filters(program.command('logs'))
    .summary('list what was done, by whom, and how it ended')
    .description(
      'List recorded operations, the newest last: time, caller, server, entry, outcome, duration, size. A star in a filter stands for anything.',
    )
    .addOption(new Option('--limit <count>', 'how many at most (default: 50)').argParser(count))
    .option('-f, --follow', 'go on with what is done from now on')
    .addOption(
      new Option(
        '--process <server>',
        'instead, what the process of this server wrote to standard error and what went wrong with it',
      ).conflicts([...FILTERS, 'export']),
    )
    .addOption(
      new Option('--export <format>', 'print all that match, the oldest first')
        .choices(['jsonl', 'csv'])
        .conflicts(['limit', 'follow']),
    )
    .action(run(async () => (await import('../commands/logs.ts')).logs));
  program
    .command('stats')
    .argument('[tool]', 'only this one')
    .summary('count calls, errors, time and tokens per tool')
    .description(
      'Count per tool, since the first record: calls, errors, what was refused, last use, how long calls take (estimated from buckets), estimated tokens in and out.',
    )
    .option('--server <name>', 'only tools of this server')
    .addOption(new Option('--limit <count>', 'how many at most').argParser(count))
    .action(run(async () => (await import('../commands/stats.ts')).stats));
  program
    .command('audit')
    .addArgument(new Argument('<action>', 'verify: check the chain of records').choices(['verify']))
    .summary('check that nobody changed the record')
    .description(
      'Check the chain of records (audit.chain): whether any was changed, removed, added or moved. The hash that is printed can be noted elsewhere and expected later.',
    )
    .option('--expect <hash>', 'also check that this hash, noted earlier, is still in the chain')
    .action(run(async () => (await import('../commands/audit.ts')).audit));
}

/** Conditions on records, which the log of a process has none of. */
const FILTERS = [
  ...['server', 'tool', 'caller', 'client', 'profile', 'kind', 'outcome', 'code'],
  ...['group', 'tier', 'rule', 'errors', 'since', 'until'],
];

function filters(command: Command): Command {
  return command
    .option('--server <name>', 'of this server')
    .option('--tool <name>', 'of this tool, prompt or resource; of a tool also as clients see it')
    .option('--caller <id>', 'by this caller')
    .option('--client <name>', 'by this client')
    .option('--profile <name>', 'under this profile')
    .addOption(
      new Option('--kind <kind>', 'of this kind').choices([
        ...['tool', 'prompt', 'resource', 'subscription', 'completion', 'other'],
        ...['block', 'approval', 'config', 'sign-in', 'key'],
      ]),
    )
    .addOption(
      new Option('--outcome <outcome>', 'that ended so').choices([
        ...['ok', 'tool-error', 'refused', 'failed', 'cancelled'],
      ]),
    )
    .option('--code <code>', 'with this error code')
    .option('--group <id>', 'of one script or one request of a client')
    .addOption(new Option('--tier <tier>', 'of this tier').choices(['read', 'write', 'destructive']))
    .option('--rule <id>', 'decided by this rule')
    .option('--errors', 'only what did not end well')
    .option('--since <when>', 'from then on: a duration such as 30m or 2d, or a date')
    .option('--until <when>', 'before then');
}
