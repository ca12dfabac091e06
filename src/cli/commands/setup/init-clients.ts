import { connectableClients } from '../../../setup/connect/connectable-clients.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { ServerAddition } from '../../../setup/import/import-edits.ts';
import type { CliContext } from '../../context.ts';
import type { InitOptions } from '../init.ts';
import {
  findClientFile,
  getConnectableClient,
  planClientConnection,
  printConnectionPlan,
  writeConnection,
} from './connect-client.ts';
import { openEditableConfig } from './editable-config.ts';
import type { EditableConfig } from './editable-config.ts';
import { approveHeldServers, findHeldServers, noteHeldServers } from './held-servers.ts';
import { isInteractive } from './terminal-prompt.ts';
import type { TerminalPrompt } from './terminal-prompt.ts';

/** Returns the ids of the clients to connect: those of `--connect`, or the answer to a question. */
export async function chooseClients(
  options: InitOptions,
  context: CliContext,
  prompt: TerminalPrompt | undefined,
): Promise<readonly string[]> {
  const present: string[] = [];
  for (const client of connectableClients) {
    const { bytes } = await findClientFile(client, context);
    if (bytes !== undefined) present.push(client.source.id);
  }
  const flags = options.connect ?? (options.yes === true || prompt === undefined ? [] : undefined);
  if (flags !== undefined) return flags.includes('all') ? present : flags.filter((name) => name !== 'none');
  if (present.length === 0 || prompt === undefined) {
    context.out.prose(
      '\nNo supported client was found. For any other client, print the entry to paste with: trunkline connect other',
    );
    return [];
  }
  for (;;) {
    const answer = await prompt.text(
      `\nConnect which clients? ${present.join(', ')} [Enter for all; none, or names separated by commas]`,
    );
    if (/^(?:all|y|yes)?$/i.test(answer)) return present;
    if (/^(?:n|no|none)$/i.test(answer)) return [];
    const names = answer.split(/[\s,]+/).filter((name) => name !== '');
    const unknown = names.filter((name) => !connectableClients.some(({ source }) => source.id === name));
    if (unknown.length === 0) return names;
    context.out.note(`Unknown client: ${unknown.join(', ')}.`);
  }
}

/** Shows how the clients' files would be changed. Returns the clients whose change the person has confirmed. */
export async function planClients(
  names: readonly string[],
  {
    servers,
    originals,
    config,
  }: {
    readonly servers: readonly ServerAddition[];
    /** The entries that clients have for corrected servers, by name. */
    readonly originals: ReadonlyMap<string, JsonObject>;
    readonly config: EditableConfig;
  },
  {
    options,
    context,
    prompt,
  }: {
    readonly options: InitOptions;
    readonly context: CliContext;
    readonly prompt: TerminalPrompt | undefined;
  },
): Promise<readonly string[]> {
  const { out } = context;
  const { document } = config;
  const added = new Map([...document.servers, ...servers.map(({ name, entry }) => [name, entry] as const)]);
  const draft = { ...config, document: { ...document, servers: added } };
  const changes: { readonly name: string; readonly file: string; readonly title: string }[] = [];
  for (const name of names) {
    const client = getConnectableClient(name);
    // The user chooses which servers to import. The client keeps the others.
    const planned = await planClientConnection(client, draft, context, { canTakeOver: false, originals });
    const { title } = client.source;
    if (!planned.isChanged) out.line(`${title} is already connected.`);
    else {
      const scope = { config: options.config, context };
      // Only servers in the saved configuration can be held for approval, and a missing configuration must not be created here.
      const existing = planned.existingServers.filter((server) => document.servers.has(server));
      printConnectionPlan(planned, await findHeldServers(existing, scope), context);
      changes.push({ name, file: planned.file, title });
    }
  }
  const [first] = changes;
  // Naming the client on the command line counts as confirmation.
  if (first === undefined || prompt === undefined || options.connect !== undefined || options.yes === true)
    return changes.map(({ name }) => name);
  const subject = changes.length === 1 ? first.file : `these ${changes.length} files`;
  if (await prompt.confirm(`Change ${subject}?`)) return changes.map(({ name }) => name);
  for (const { title } of changes) out.note(`${title} was not changed.`);
  return [];
}

/** Connects the clients. Returns their titles. */
export async function applyClientPlans(
  names: readonly string[],
  originals: ReadonlyMap<string, JsonObject>,
  { options, context }: { readonly options: InitOptions; readonly context: CliContext },
): Promise<readonly string[]> {
  const scope = { config: options.config, context };
  const titles: string[] = [];
  for (const name of names) {
    const client = getConnectableClient(name);
    const { title } = client.source;
    // The configuration is read again for each client, because approving servers may have changed it.
    const config = await openEditableConfig(options.config, context);
    const planned = await planClientConnection(client, config, context, { canTakeOver: false, originals });
    if (!planned.isChanged) continue;
    if (config.document.isNew) await config.save([]);
    const heldBefore = await findHeldServers(planned.existingServers, scope);
    const held = isInteractive(context) ? await approveHeldServers(heldBefore, scope) : heldBefore;
    await writeConnection(planned, await config.reread(), context);
    context.out.line(`${title} now uses Trunkline. Undo with: trunkline connect ${name} --undo`);
    noteHeldServers(held, context);
    titles.push(title);
  }
  return titles;
}
