import { connectableClients } from '../../setup/connect/connectable-clients.ts';
import type { SecretDestination } from '../../setup/import/import-edits.ts';
import { planImport } from '../../setup/import/plan-import.ts';
import type { ImportStep } from '../../setup/import/plan-import.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { runSearch } from './search.ts';
import { openTerminalPrompt } from './setup/terminal-prompt.ts';
import type { TerminalPrompt } from './setup/terminal-prompt.ts';
import { openEditableConfig } from './setup/editable-config.ts';
import {
  getConnectableClient,
  findClientFile,
  planClientConnection,
  writeConnection,
  printConnectionPlan,
} from './setup/connect-client.ts';
import { findImportableServers, getOwnIdentity } from './setup/find-importable-servers.ts';
import {
  findHeldServers,
  approveHeldServers,
  noteHeldServers,
  printHeldSummary,
} from './setup/held-servers.ts';
import { addServers } from './setup/add-servers.ts';
import { describeStorage, noteApplied } from './setup/server-changes.ts';
import { printImportPlan, noteLeftOutFiles, noteUnreadableFiles } from './setup/print-import-plan.ts';

export interface InitOptions extends GlobalOptions {
  /** The names of servers, `all` or `none`. */
  readonly import?: readonly string[];
  /** The names of clients, or `none`. */
  readonly connect?: readonly string[];
  readonly search?: string;
  readonly references?: SecretDestination | true;
  readonly yes?: boolean;
}

/** Sets up everything interactively: imports servers, connects a client, and searches for a first tool. */
export async function runInit(options: InitOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  // Invalid flags are rejected before anything is changed.
  for (const name of options.connect ?? []) if (name !== 'none') getConnectableClient(name);
  let query: string | undefined;
  {
    using prompt = openTerminalPrompt(context);
    if (prompt === undefined)
      throw new GatewayError(
        'USAGE',
        'trunkline init asks questions, but there is no terminal. Nothing was changed. In a script, use trunkline import --yes and trunkline connect CLIENT --yes.',
      );
    await importFoundServers(options, context, prompt);
    await connectClients(options, context, prompt);
    query = await askFirstQuery(options, context, prompt);
  }
  if (query !== undefined) {
    out.line(`\n$ trunkline search ${JSON.stringify(query)}`);
    await runSearch({ config: options.config, limit: 5 }, context, [query]);
  }
  await printHeldSummary({ config: options.config, context });
  out.line('\nDone. List your servers with: trunkline servers\nSee all commands with: trunkline --help');
  return 0;
}

async function importFoundServers(
  options: InitOptions,
  context: CliContext,
  prompt: TerminalPrompt,
): Promise<void> {
  const { out } = context;
  const config = await openEditableConfig(options.config, context);
  const { found, leftOut } = await findImportableServers(undefined, context);
  noteUnreadableFiles(found, context);
  noteLeftOutFiles(leftOut, context);
  const steps = planImport(found, {
    servers: config.document.servers,
    identity: getOwnIdentity(context, config.document.text),
    onConflict: 'keep',
    configFile: config.file,
  });
  const newSteps = steps.filter(({ state }) => state === 'new');
  if (steps.length === 0) out.line('No other client on this machine has servers.');
  else {
    out.line('Servers of other clients on this machine:\n');
    printImportPlan(steps, context);
  }
  if (newSteps.length === 0) {
    if (steps.length > 0) out.line('\nThere are no new servers.');
    // The configuration exists after init, whatever was chosen.
    if (config.document.isNew) await config.save([]);
    return;
  }
  const chosen = await chooseServers(newSteps, options, context, prompt);
  const newServers = chosen.flatMap(({ as, entry, secrets }) =>
    entry === undefined ? [] : [{ name: as, entry, secrets }],
  );
  if (newServers.length === 0) return;
  const references = options.references ?? (options.yes === true ? 'file' : undefined);
  const applied = await addServers(
    config,
    newServers,
    { trust: 'first-sight', references },
    { context, prompt },
  );
  out.line(
    `Added ${formatCount(newServers.length, 'server')} to ${describeStorage(config.file, applied).place}`,
  );
  noteApplied(applied, config, context);
}

async function chooseServers(
  steps: readonly ImportStep[],
  options: InitOptions,
  { out }: CliContext,
  prompt: TerminalPrompt,
): Promise<readonly ImportStep[]> {
  const flags = options.import ?? (options.yes === true ? ['all'] : undefined);
  if (flags !== undefined)
    return flags.includes('all') ? steps : steps.filter(({ as }) => flags.includes(as));
  for (;;) {
    const answer = await prompt.text(
      `\nImport ${formatCount(steps.length, 'new server')}? [Y/n, or names separated by commas]`,
    );
    if (/^(?:y|yes)?$/i.test(answer)) return steps;
    if (/^(?:n|no)$/i.test(answer)) return [];
    const names = answer.split(/[\s,]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => !steps.some(({ as }) => as === name));
    if (unknown.length === 0) return steps.filter(({ as }) => names.includes(as));
    out.note(`No new server has the name ${unknown.join(', ')}.`);
  }
}

async function connectClients(
  options: InitOptions,
  context: CliContext,
  prompt: TerminalPrompt,
): Promise<void> {
  const { out } = context;
  const present: string[] = [];
  for (const client of connectableClients) {
    const { bytes } = await findClientFile(client, context);
    if (bytes !== undefined) present.push(client.source.id);
  }
  const flags = options.connect ?? (options.yes === true ? [] : undefined);
  const names = flags ?? (await chooseClients(present, prompt, context));
  for (const name of names) {
    if (name === 'none') continue;
    const client = getConnectableClient(name);
    // The configuration is read again for each client, because connecting the previous one may have changed it.
    const config = await openEditableConfig(options.config, context);
    // The user has already chosen which servers to import. The client keeps the others.
    const planned = await planClientConnection(client, config, context, { canTakeOver: false });
    if (!planned.isChanged) {
      out.line(`${client.source.title} is already connected.`);
      continue;
    }
    const scope = { config: options.config, context };
    const heldBefore = await findHeldServers(planned.existingServers, scope);
    printConnectionPlan(planned, heldBefore, context);
    // Naming the client on the command line counts as confirmation.
    if (flags === undefined && !(await prompt.confirm(`Change ${planned.file}?`))) {
      out.note(`${client.source.title} was not changed.`);
      continue;
    }
    if (config.document.isNew) await config.save([]);
    const held = await approveHeldServers(heldBefore, scope);
    await writeConnection(planned, await config.reread(), context);
    out.line(`${client.source.title} now uses Trunkline. Undo with: trunkline connect ${name} --undo`);
    noteHeldServers(held, context);
  }
}

async function chooseClients(
  present: readonly string[],
  prompt: TerminalPrompt,
  { out }: CliContext,
): Promise<readonly string[]> {
  if (present.length === 0) {
    out.prose(
      '\nNo supported client was found. For any other client, print the entry to paste with: trunkline connect other',
    );
    return [];
  }
  for (;;) {
    const answer = await prompt.text(
      `\nConnect a client? ${present.join(', ')} [names separated by commas, Enter for none]`,
    );
    const names = answer.split(/[\s,]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => !connectableClients.some(({ source }) => source.id === name));
    if (unknown.length === 0) return names;
    out.note(`Unknown client: ${unknown.join(', ')}.`);
  }
}

async function askFirstQuery(
  options: InitOptions,
  context: CliContext,
  prompt: TerminalPrompt,
): Promise<string | undefined> {
  if (options.search !== undefined) return options.search === '' ? undefined : options.search;
  const { document } = await openEditableConfig(options.config, context);
  if (options.yes === true || document.servers.size === 0) return undefined;
  const answer = await prompt.text(
    '\nWhat would you like to do first? Trunkline searches for matching tools. [Enter for none]',
  );
  return answer === '' ? undefined : answer;
}
