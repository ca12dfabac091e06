import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { connectableClients } from '../../../setup/connect/connectable-clients.ts';
import type { ConnectableClient } from '../../../setup/connect/connectable-clients.ts';
import { readFileIfPresent, ConnectionHistory } from '../../../setup/connect/connection-history.ts';
import { buildProgramEntry, buildSplitEntries } from '../../../setup/connect/client-entries.ts';
import { inspectOwnEntry } from '../../../setup/connect/inspect-own-entry.ts';
import type { EntryFault } from '../../../setup/connect/inspect-own-entry.ts';
import type { ClientEntries } from '../../../setup/connect/client-entries.ts';
import { planConnection } from '../../../setup/connect/plan-connection.ts';
import type { ConnectionPlan } from '../../../setup/connect/plan-connection.ts';
import { resolveLocations } from '../../../config/find-config.ts';
import type { ConfigDocument } from '../../../config/file/edit-config.ts';
import type { ServerAddition } from '../../../setup/import/import-edits.ts';
import { readGatewayUrl } from '../../../setup/import/gateway-entry.ts';
import { readSourceFile } from '../../../setup/import/find-servers.ts';
import { planImport } from '../../../setup/import/plan-import.ts';
import type { ConflictStrategy, ImportStep } from '../../../setup/import/plan-import.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { findSimilar } from '../../../core/lib/find-similar.ts';
import { isEntryEnabled } from '../../../setup/manage/config-entries.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';
import type { EditableConfig } from './editable-config.ts';
import { getOwnIdentity, toClientEnvironment } from './find-importable-servers.ts';
import { describeEntry, printEntryDetails } from './describe-entry.ts';
import { createLaunchEntry, formatSnippet, listNeededVariables } from './launch-entry.ts';

/** The planned change of a client's configuration file. */
export interface ClientConnectionPlan extends ConnectionPlan {
  readonly client: ConnectableClient;
  readonly file: string;
  readonly before: Buffer | undefined;
  readonly isChanged: boolean;
  /** Servers of the client that the configuration of Trunkline lacks. */
  readonly newServers: readonly ServerAddition[];
  /** Servers of the client that the configuration of Trunkline already has, by their names in that configuration. */
  readonly existingServers: readonly string[];
  /** The disabled servers among `existingServers`. */
  readonly disabled: readonly string[];
  /** The entries in the configuration of Trunkline by name. */
  readonly entries: ReadonlyMap<string, unknown>;
  /** Notes for the user about the client's servers, such as settings that are not carried over. */
  readonly remarks: readonly { readonly name: string; readonly text: string }[];
  /** Plans the connection again for a changed configuration of Trunkline, which may refer to other variables or have other servers. */
  readonly planFor: (config: EditableConfig) => ConnectionPlan;
}

interface PlanOptions {
  readonly onConflict?: ConflictStrategy | undefined;
  /** The entries that clients have for servers whose entries the person has corrected, by name. */
  readonly originals?: ReadonlyMap<string, JsonObject>;
  /** If false, the client keeps servers that the configuration of Trunkline lacks. */
  readonly canTakeOver?: boolean;
  /** Whether the client gets one entry per server instead of one for all. */
  readonly isSplit?: boolean | undefined;
}

const BYTE_ORDER_MARK = '\uFEFF';

export function getConnectableClient(name: string): ConnectableClient {
  const found = connectableClients.find(({ source }) => source.id === name);
  if (found !== undefined) return found;
  const ids = connectableClients.map(({ source }) => source.id);
  const [suggestion] = findSimilar(name, ids, 1);
  const hint =
    suggestion === undefined
      ? `Supported clients are ${ids.join(', ')}. For any other client, run: trunkline connect other`
      : `Did you mean ${suggestion}?`;
  throw new GatewayError('USAGE', `"${name}" is not a supported client. ${hint}`);
}

/**
 * Returns the configuration file of a client. If there is none, returns the path that the client would use: the first one in a folder that
 * exists, because some clients have several possible paths, such as one for the editor and one for the command line.
 */
export async function findClientFile(
  client: ConnectableClient,
  context: CliContext,
): Promise<{ readonly file: string; readonly bytes?: Buffer }> {
  const files = client.files(toClientEnvironment(context));
  for (const file of files) {
    const bytes = await readFileIfPresent(file);
    if (bytes !== undefined) return { file, bytes };
  }
  return { file: files.find((file) => existsSync(dirname(file))) ?? files[0] ?? '' };
}

/** Plans the changes that connect a client. If its file cannot be edited, prints the entry to paste and throws. */
export async function planClientConnection(
  client: ConnectableClient,
  config: EditableConfig,
  context: CliContext,
  { onConflict = 'keep', canTakeOver = true, isSplit = false, originals }: PlanOptions = {},
): Promise<ClientConnectionPlan> {
  const { source } = client;
  const { file, bytes } = await findClientFile(client, context);
  const content = bytes?.toString('utf8') ?? '';
  const mark = content.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const text = content.slice(mark.length);
  const { all, problem } = await planClientImport(
    client,
    { file, text },
    { config, context, onConflict, originals },
  );
  const steps = canTakeOver ? all : all.filter(({ state }) => state !== 'new');
  const skipped = all.flatMap((step) =>
    steps.includes(step) ? [] : [{ name: step.name, reason: 'it was not imported' }],
  );
  const buildEntries = (current: EditableConfig): ClientEntries =>
    isSplit
      ? buildServerEntries(client, current, { all, steps, text })
      : buildLaunchEntries(client, current, context);
  const planFor = (current: EditableConfig): ConnectionPlan => {
    const faults = findFaults(all, current.file, context);
    const connection = planConnection(client, text, { steps, wanted: buildEntries(current), faults });
    return { ...connection, text: mark + connection.text, unmoved: [...connection.unmoved, ...skipped] };
  };
  try {
    if (problem !== undefined) throw new Error(problem);
    const connection = planFor(config);
    return {
      ...connection,
      ...groupServers(steps, config),
      isChanged: connection.text !== content,
      client,
      file,
      before: bytes,
      planFor,
    };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof GatewayError) throw error;
    const { entries } = buildEntries(config);
    const subject = entries.size === 1 ? 'this entry' : 'these entries';
    const snippet = formatSnippet(Object.fromEntries(entries));
    context.out.note(`Add ${subject} to the servers of ${source.title} yourself:\n${snippet}`);
    const reason = error.message.split('\n')[0] ?? '';
    throw new GatewayError('CONFIG_INVALID', `${file} was not changed: ${reason}.`, { details: { file } });
  }
}

/** Returns the client's entries for Trunkline that start a program that is gone, or another configuration. */
export function findFaults(
  steps: readonly ImportStep[],
  configFile: string,
  context: CliContext,
): ReadonlyMap<string, EntryFault> {
  const environment = toClientEnvironment(context);
  return new Map(
    steps.flatMap(({ state, name, entry }) => {
      const fault =
        state === 'own' && entry !== undefined
          ? inspectOwnEntry(entry, { configFile, environment })
          : undefined;
      return fault === undefined ? [] : [[name, fault] as const];
    }),
  );
}

/** Plans the import of every server in the client's file. */
export async function planClientImport(
  { source }: ConnectableClient,
  { file, text }: { readonly file: string; readonly text: string },
  {
    config,
    context,
    onConflict,
    originals,
  }: {
    readonly config: { readonly file: string; readonly document: Pick<ConfigDocument, 'servers' | 'text'> };
    readonly context: CliContext;
    readonly onConflict: ConflictStrategy;
    readonly originals?: ReadonlyMap<string, JsonObject> | undefined;
  },
): Promise<{ readonly all: readonly ImportStep[]; readonly problem?: string | undefined }> {
  const found = await readSourceFile(
    source,
    { path: file, scope: 'user' },
    toClientEnvironment(context),
    () => Promise.resolve(text),
  );
  // Servers of one project must not become visible in all projects.
  const servers = (found?.servers ?? []).filter(({ project }) => project === undefined);
  const all = planImport([{ source, path: file, scope: 'user', servers }], {
    servers: config.document.servers,
    originals,
    identity: getOwnIdentity(context, config.document.text),
    onConflict,
    configFile: config.file,
  });
  return { all, problem: found?.problem };
}

/** Returns the entry with which the client starts Trunkline. */
function buildLaunchEntries(
  client: ConnectableClient,
  { file, document }: EditableConfig,
  context: CliContext,
): ClientEntries {
  const hasPath = client.declaration.inheritsPath === true;
  const launch = createLaunchEntry(context, { configFile: file, hasPath });
  return buildProgramEntry(client, launch, listNeededVariables(document.text, context));
}

/** Returns one entry per enabled server, including those that are about to be added. */
function buildServerEntries(
  client: ConnectableClient,
  { document }: EditableConfig,
  {
    all,
    steps,
    text,
  }: { readonly all: readonly ImportStep[]; readonly steps: readonly ImportStep[]; readonly text: string },
): ClientEntries {
  const configured = [...document.servers].flatMap(([name, entry]) =>
    isJsonObject(entry) && isEntryEnabled(entry) ? [name] : [],
  );
  const added = steps.flatMap(({ state, as }) => (state === 'new' ? [as] : []));
  const leaving = new Set(
    all.flatMap((step) =>
      step.state === 'own' || (steps.includes(step) && ['new', 'same'].includes(step.state))
        ? [step.name]
        : [],
    ),
  );
  const staying = new Set([...client.format.readServers(text).keys()].filter((name) => !leaving.has(name)));
  const wanted = buildSplitEntries(client, [...new Set([...configured, ...added])], {
    baseUrl: readGatewayUrl(document.text),
    isTaken: (name) => staying.has(name),
  });
  if (wanted === undefined)
    throw new GatewayError(
      'USAGE',
      `${client.source.title} only starts programs, so it cannot have one entry per server. Connect it without --split.`,
    );
  if (wanted.entries.size === 0)
    throw new GatewayError(
      'ENTRY_NOT_FOUND',
      'The configuration has no enabled server, so there is nothing to write. Add a server with: trunkline add',
    );
  return wanted;
}

function groupServers(
  steps: readonly ImportStep[],
  { document }: EditableConfig,
): Pick<ClientConnectionPlan, 'newServers' | 'existingServers' | 'disabled' | 'entries' | 'remarks'> {
  const existingServers = steps.filter(({ state }) => state === 'same').map(({ as }) => as);
  return {
    newServers: steps.flatMap(({ state, as, entry, secrets }) =>
      state === 'new' && entry !== undefined ? [{ name: as, entry, secrets }] : [],
    ),
    existingServers,
    remarks: steps.flatMap(({ state, as, remarks }) =>
      state === 'new' || state === 'same' ? remarks.map((text) => ({ name: as, text })) : [],
    ),
    entries: document.servers,
    disabled: existingServers.filter((name) => {
      const entry = document.servers.get(name);
      return isJsonObject(entry) && !isEntryEnabled(entry);
    }),
  };
}

/** Prints how connecting would change the client's file. */
export function printConnectionPlan(
  plan: ClientConnectionPlan,
  held: readonly string[],
  context: CliContext,
): void {
  const { client, file, moved, unmoved, existingEntry, disabled, isChanged, before, newServers } = plan;
  const { out } = context;
  if (!isChanged) return;
  out.line(`${file}${before === undefined ? ' (new)' : ''}`);
  for (const { name, fault } of plan.replaced)
    out.line(
      `  - ${toOneLine(name)} (${fault.kind === 'missing-program' ? `${toOneLine(fault.path)} does not exist` : `uses ${toOneLine(fault.path)}`})`,
    );
  for (const name of plan.written) out.line(`  + ${toOneLine(name)}`);
  if (existingEntry !== undefined) {
    const members = plan.completedMembers;
    const additions = members.length === 0 ? '' : `, and gets the settings ${members.join(', ')}`;
    out.line(`  = ${toOneLine(existingEntry)} stays: it already connects to Trunkline${additions}`);
  }
  for (const name of moved) out.line(`  - ${toOneLine(name)} (moves to Trunkline)`);
  for (const { name, reason } of unmoved) out.line(`  = ${toOneLine(name)} stays: ${toOneLine(reason)}`);
  for (const name of held) out.line(`  ! ${toOneLine(name)} is already in Trunkline, but held for approval`);
  for (const name of disabled)
    out.line(
      `  ! ${toOneLine(name)} is already in Trunkline, but disabled. Enable it with: trunkline enable ${quoteShellWord(name)}`,
    );
  for (const { name, entry } of newServers) {
    out.line(`  ${name} will be started or reached as:`);
    printEntryDetails(describeEntry(entry, 'user'), context);
  }
  for (const { name, text } of plan.remarks) out.note(`${toOneLine(name)}: ${toOneLine(text)}`);
  if (moved.length + unmoved.length === 0)
    out.note(`${client.source.title} has no servers of its own to move.`);
}

/** Writes the client's file. `config` must already contain the moved servers. */
export async function writeConnection(
  { client, file, before, planFor }: ClientConnectionPlan,
  config: EditableConfig,
  context: CliContext,
): Promise<string | undefined> {
  const { text, written } = planFor(config);
  const connections = new ConnectionHistory(resolveLocations(context).stateDir);
  const change = { file, before, after: text, written };
  const { backup } = await connections.write(client.source.id, change, new Date());
  return backup;
}
