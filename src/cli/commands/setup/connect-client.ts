import { connectableClients } from '../../../setup/connect/connectable-clients.ts';
import type { ConnectableClient } from '../../../setup/connect/connectable-clients.ts';
import { readFileIfPresent, ConnectionHistory } from '../../../setup/connect/connection-history.ts';
import { planConnection } from '../../../setup/connect/plan-connection.ts';
import type { ConnectionPlan } from '../../../setup/connect/plan-connection.ts';
import { resolveLocations } from '../../../config/find-config.ts';
import type { ServerAddition } from '../../../setup/import/import-edits.ts';
import { readSourceFile } from '../../../setup/import/find-servers.ts';
import { planImport } from '../../../setup/import/plan-import.ts';
import type { ConflictStrategy, ImportStep } from '../../../setup/import/plan-import.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { findSimilar } from '../../../core/lib/find-similar.ts';
import { isEntryEnabled } from '../../../setup/manage/config-entries.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';
import type { EditableConfig } from './editable-config.ts';
import { getOwnIdentity, toClientEnvironment } from './find-importable-servers.ts';
import { describeEntry, printEntryDetails } from './describe-entry.ts';
import { createLaunchEntry, formatSnippet } from './launch-entry.ts';

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
}

interface PlanOptions {
  readonly onConflict?: ConflictStrategy | undefined;
  /** If false, the client keeps servers that the configuration of Trunkline lacks. */
  readonly canTakeOver?: boolean;
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

/** Returns the configuration file of a client. If there is none, returns the path that the client would use. */
export async function findClientFile(
  client: ConnectableClient,
  context: CliContext,
): Promise<{ readonly file: string; readonly bytes?: Buffer }> {
  const files = client.files(toClientEnvironment(context));
  for (const file of files) {
    const bytes = await readFileIfPresent(file);
    if (bytes !== undefined) return { file, bytes };
  }
  return { file: files[0] ?? '' };
}

/** Plans the changes that connect a client. If its file cannot be edited, prints the entry to paste and throws. */
export async function planClientConnection(
  client: ConnectableClient,
  config: EditableConfig,
  context: CliContext,
  { onConflict = 'keep', canTakeOver = true }: PlanOptions = {},
): Promise<ClientConnectionPlan> {
  const { source, extra, inheritsPath: hasPath } = client;
  const { file, bytes } = await findClientFile(client, context);
  const launchEntry = { ...extra, ...createLaunchEntry(context, { configFile: config.file, hasPath }) };
  const content = bytes?.toString('utf8') ?? '';
  const mark = content.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const text = content.slice(mark.length);
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
    identity: getOwnIdentity(context, config.document.text),
    onConflict,
    configFile: config.file,
  });
  const steps = canTakeOver ? all : all.filter(({ state }) => state !== 'new');
  const skipped = all.flatMap((step) =>
    steps.includes(step) ? [] : [{ name: step.name, reason: 'it was not imported' }],
  );
  try {
    if (found?.problem !== undefined) throw new Error(found.problem);
    const connection = planConnection(client, text, { steps, entry: launchEntry });
    return {
      ...connection,
      ...groupServers(steps, config),
      text: mark + connection.text,
      isChanged: connection.text !== text,
      unmoved: [...connection.unmoved, ...skipped],
      client,
      file,
      before: bytes,
    };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof GatewayError) throw error;
    context.out.note(
      `Add this entry to the servers of ${source.title} yourself:\n${formatSnippet(launchEntry)}`,
    );
    const reason = error.message.split('\n')[0] ?? '';
    throw new GatewayError('CONFIG_INVALID', `${file} was not changed: ${reason}.`, { details: { file } });
  }
}

function groupServers(
  steps: readonly ImportStep[],
  { document }: EditableConfig,
): Pick<ClientConnectionPlan, 'newServers' | 'existingServers' | 'disabled' | 'entries'> {
  const existingServers = steps.filter(({ state }) => state === 'same').map(({ as }) => as);
  return {
    newServers: steps.flatMap(({ state, as, entry, secrets }) =>
      state === 'new' && entry !== undefined ? [{ name: as, entry, secrets }] : [],
    ),
    existingServers,
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
  out.line(
    existingEntry === undefined
      ? '  + trunkline'
      : `  = ${toOneLine(existingEntry)} stays: it already is Trunkline`,
  );
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
  if (moved.length + unmoved.length === 0)
    out.note(`${client.source.title} has no servers of its own to move.`);
}

/** Writes the client's file. The configuration of Trunkline must already contain the moved servers. */
export async function writeConnection(
  planned: ClientConnectionPlan,
  context: CliContext,
): Promise<string | undefined> {
  const { client, file, before, text } = planned;
  const connections = new ConnectionHistory(resolveLocations(context).stateDir);
  const { backup } = await connections.write(client.source.id, { file, before, after: text }, new Date());
  return backup;
}
