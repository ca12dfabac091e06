import { Argument, Option } from 'commander';
import type { Command } from 'commander';
import { parsePositiveInteger } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that print audit records and statistics. */
export function declareAudit({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Logs and statistics:');
  addFilterOptions(program.command('logs'))
    .summary('list calls with caller and outcome')
    .description(
      'List audit records, the newest last: time, caller, server, entry, outcome, duration and size. An asterisk in a filter matches any text.',
    )
    .addOption(
      new Option('--limit <count>', 'the maximum number of records (default: 50)').argParser(
        parsePositiveInteger,
      ),
    )
    .option('-f, --follow', 'keep printing new records')
    .addOption(
      new Option(
        '--process <server>',
        'print what this server wrote to standard error instead, with its problems',
      ).conflicts([...FILTERS, 'export']),
    )
    .addOption(
      new Option('--export <format>', 'print all matching records, the oldest first')
        .choices(['jsonl', 'csv'])
        .conflicts(['limit', 'follow']),
    )
    .action(lazy(async () => (await import('../commands/logs.ts')).runLogs));
  program
    .command('stats')
    .argument('[tool]', 'only this tool')
    .summary('count calls, errors, time and tokens per tool')
    .description(
      'Print statistics per tool since the first record: calls, errors, refused calls, last use, duration of calls (estimated from a histogram), and estimated input and output tokens.',
    )
    .option('--server <name>', 'only tools of this server')
    .addOption(new Option('--limit <count>', 'the maximum number of tools').argParser(parsePositiveInteger))
    .action(lazy(async () => (await import('../commands/stats.ts')).runStats));
  program
    .command('audit')
    .addArgument(new Argument('<action>', 'verify: check the hash chain').choices(['verify']))
    .summary('check that the audit log was not changed')
    .description(
      'Check the hash chain of the audit log (audit.chain): whether a record was changed, removed, added or moved. Store the printed hash elsewhere, and check it later with --expect.',
    )
    .option('--expect <hash>', 'also check that the chain still contains this earlier hash')
    .action(lazy(async () => (await import('../commands/audit.ts')).runAudit));
}

/** Filters for audit records. They cannot be combined with `--process`. */
const FILTERS = [
  'server',
  'tool',
  'caller',
  'client',
  'profile',
  'kind',
  'outcome',
  'code',
  'group',
  'tier',
  'rule',
  'errors',
  'since',
  'until',
];

function addFilterOptions(command: Command): Command {
  return command
    .option('--server <name>', 'only records of this server')
    .option(
      '--tool <name>',
      'only this tool, prompt or resource; for a tool, its own name or the name that clients see',
    )
    .option('--caller <id>', 'only records of this caller')
    .option('--client <name>', 'only records of this client')
    .option('--profile <name>', 'only records with this profile')
    .addOption(
      new Option('--kind <kind>', 'only records of this kind').choices([
        'tool',
        'prompt',
        'resource',
        'subscription',
        'completion',
        'other',
        'block',
        'approval',
        'config',
        'sign-in',
        'key',
      ]),
    )
    .addOption(
      new Option('--outcome <outcome>', 'only records with this outcome').choices([
        'ok',
        'tool-error',
        'refused',
        'failed',
        'cancelled',
      ]),
    )
    .option('--code <code>', 'only records with this error code')
    .option('--group <id>', 'only records of one script or of one client request')
    .addOption(
      new Option('--tier <tier>', 'only records of this tier').choices(['read', 'write', 'destructive']),
    )
    .option('--rule <id>', 'only records that this rule decided')
    .option('--errors', 'only records that did not succeed')
    .option('--since <when>', 'only later records: a duration such as 30m or 2d, or a date')
    .option('--until <when>', 'only earlier records');
}
