import { Option } from 'commander';
import { collectValues } from '../declare.ts';
import type { CommandRegistrar } from '../declare.ts';

/** Declares the commands that control what may be seen and called. */
export function declareApprovals({ program, lazy }: CommandRegistrar): void {
  program.commandsGroup('Control what may be used:');
  const approvals = program
    .command('approvals')
    .summary('list and decide what is held for approval')
    .description(
      'List what is held for approval: servers, new and changed tools with their differences, and calls. Does not start anything. Long definitions are cut, and cannot be accepted until --full has shown them.',
    )
    .option('--full', 'show everything, however long it is')
    .action(lazy(async () => (await import('../commands/approvals.ts')).runApprovals));
  const fingerprint = (): Option =>
    new Option('--fingerprint <fingerprint>', 'only if the entry still has this fingerprint');
  approvals
    .command('accept')
    .argument('<name...>', 'the names of tools, prompts or servers')
    .description('Accept held entries, or all held entries of a server. A held server is started.')
    .addOption(fingerprint())
    .option('--all', 'for a held server, also accept all its tools and prompts')
    .action(lazy(async () => (await import('../commands/approvals.ts')).runApprovalsAccept));
  approvals
    .command('refuse')
    .argument('<name...>', 'the names of tools, prompts or servers')
    .description('Refuse held entries. They stay hidden until their definitions change.')
    .addOption(fingerprint())
    .action(lazy(async () => (await import('../commands/approvals.ts')).runApprovalsRefuse));
  program
    .command('approve')
    .argument('<call>', 'the id of the call, as trunkline approvals prints it')
    .summary('approve a held call')
    .description('Approve a call that a rule holds for approval.')
    .option('--refuse', 'refuse the call instead')
    .action(lazy(async () => (await import('../commands/approvals.ts')).runApprove));
  program
    .command('trust')
    .argument('[file]', 'a project configuration', 'trunkline.jsonc')
    .summary('allow a project configuration to start its servers')
    .description(
      'Trust the current version of a project configuration and of its guards, so that Trunkline uses them. First prints what the file runs, reads and connects to; at a terminal, then asks.',
    )
    .option('--yes', 'do not ask questions')
    .action(lazy(async () => (await import('../commands/trust.ts')).runTrust));
  program
    .command('lock')
    .summary('write the definitions of all tools to a lockfile')
    .description(
      'Write trunkline.lock.json next to the configuration, with the definitions that all servers offer. While the file exists, definitions that differ from it are held.',
    )
    .option('--check', 'only compare; exit code 0: the file matches, 6: something differs')
    .action(lazy(async () => (await import('../commands/lock.ts')).runLock));
  declarePolicy({ program, lazy });
}

function declarePolicy({ program, lazy }: CommandRegistrar): void {
  program
    .command('policy')
    .summary('check what the rules allow')
    .description('Check what the rules of the configuration allow.')
    .command('check')
    .argument('<name>', 'the name of a tool, prompt or resource')
    .description(
      'Print which rule decides about a name for a caller. Exit code 0: it may be used, 6: it is hidden. Does not start anything.',
    )
    .requiredOption('--as <caller>', 'the caller, for example local for standard input and output')
    .option('--profile <name>', 'with this profile')
    .addOption(new Option('--group <name>', 'in this group; may be repeated').argParser(collectValues))
    .addOption(new Option('--role <name>', 'with this role; may be repeated').argParser(collectValues))
    .addOption(
      new Option('--tier <tier>', 'with a key of this tier').choices(['read', 'write', 'destructive']),
    )
    .action(lazy(async () => (await import('../commands/policy-check.ts')).runPolicyCheck));
}
