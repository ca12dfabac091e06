import { Option } from 'commander';
import { collect } from '../declare.ts';
import type { Declare } from '../declare.ts';

/** Commands with which a person decides what may be seen and called. */
export function declareTrust({ program, run }: Declare): void {
  program.commandsGroup('Decide what may be used:');
  const approvals = program
    .command('approvals')
    .summary('show what waits for you, and decide about it')
    .description(
      'Show what waits for a person: servers, new and changed tools with what differs, and calls. Nothing is started.',
    )
    .action(run(async () => (await import('../commands/approvals.ts')).approvals));
  const fingerprint = (): Option =>
    new Option('--fingerprint <fingerprint>', 'only if it is still offered with this one');
  approvals
    .command('accept')
    .argument('<name...>', 'of a tool, a prompt or a server; several take all of them')
    .description('Accept what is held: one entry, or everything of a server. A held server is started first.')
    .addOption(fingerprint())
    .option('--all', 'of a held server, also accept all that it offers')
    .action(run(async () => (await import('../commands/approvals.ts')).accept));
  approvals
    .command('refuse')
    .argument('<name...>', 'of a tool, a prompt or a server; several take all of them')
    .description('Refuse what is held, so that it stays away as long as it is the same.')
    .addOption(fingerprint())
    .action(run(async () => (await import('../commands/approvals.ts')).refuse));
  program
    .command('approve')
    .argument('<call>', 'as trunkline approvals shows it')
    .summary('let a waiting call go on')
    .description('Let a call go on that a rule wants a person to agree to.')
    .option('--refuse', 'refuse it instead')
    .action(run(async () => (await import('../commands/approvals.ts')).approve));
  program
    .command('trust')
    .argument('[file]', 'a project configuration', 'trunkline.jsonc')
    .summary('allow a project configuration to start its servers')
    .description("Allow a project's trunkline.jsonc, as it is now, to start the servers it names.")
    .action(run(async () => (await import('../commands/trust.ts')).trustFile));
  program
    .command('lock')
    .summary('write down what servers offer, for review')
    .description(
      'Write trunkline.lock.json beside the configuration: the definitions that all servers offer. With that file in place, whatever differs is held.',
    )
    .option('--check', 'write nothing; exit code 0: the file has what is offered, 6: something differs')
    .action(run(async () => (await import('../commands/lock.ts')).lock));
  declarePolicy({ program, run });
}

function declarePolicy({ program, run }: Declare): void {
  program
    .command('policy')
    .summary('say what the rules allow')
    .description('Say what the rules of the configuration allow.')
    .command('check')
    .argument('<name>', 'of a tool, prompt or resource')
    .description(
      'Say which rule decides about a name for a caller. Exit code 0: it may be used, 6: it is hidden. Nothing is started.',
    )
    .requiredOption('--as <caller>', 'the caller, such as local for standard input and output')
    .option('--profile <name>', 'with this profile')
    .addOption(new Option('--group <name>', 'in this group; may be repeated').argParser(collect))
    .addOption(new Option('--role <name>', 'with this role; may be repeated').argParser(collect))
    .addOption(
      new Option('--tier <tier>', 'with a key of this tier').choices(['read', 'write', 'destructive']),
    )
    .action(run(async () => (await import('../commands/policy-check.ts')).policyCheck));
}
