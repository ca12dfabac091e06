import { createAdminClient } from '../../../admin/admin-client.ts';
import type { AdminClient } from '../../../admin/admin-client.ts';
import { PERSON_HEADER } from '../../../admin/admin-authentication.ts';
import { computeConfigRevision, loadConfig } from '../../../config/load-config.ts';
import type {
  AddServersResult,
  ApplyResult,
  ChangeServerResult,
} from '../../../setup/manage/change-results.ts';
import { removeBundles } from '../../../setup/manage/bundle/bundle-archive.ts';
import type { ChangeAuthor } from '../../../setup/manage/change-author.ts';
import { sharesDatabase } from '../../../setup/manage/config-entries.ts';
import { ServerEditor } from '../../../setup/manage/server-editor.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { AuditEvent } from '../../../observability/audit/audit-record.ts';
import { silentLogger } from '../../../observability/log.ts';
import type { CliContext } from '../../context.ts';
import { findReachableGateways } from '../../gateway-client/reachable-gateways.ts';
import { isInteractive } from './terminal-prompt.ts';
import { openEditableConfig } from './editable-config.ts';
import type { EditableConfig } from './editable-config.ts';
import { getOwnIdentity, toClientEnvironment } from './find-importable-servers.ts';

/** Changes configured servers: through the running gateway, or in this process if none runs. */
export interface ServerChanges {
  add(servers: Readonly<Record<string, JsonObject>>, replace: boolean): Promise<AddServersResult>;
  /** A null value deletes its key from the entry. */
  update(name: string, changes: JsonObject): Promise<ChangeServerResult>;
  remove(name: string): Promise<ChangeServerResult>;
  enable(name: string): Promise<ChangeServerResult>;
  disable(name: string): Promise<ChangeServerResult>;
  /** Returns the names of the servers that the running gateway knows in addition to those in the file. */
  names(): Promise<readonly string[]>;
}

interface ServerChangesOptions {
  readonly context: CliContext;
  /** Whether a user at a terminal makes the change, or `--trust` was given. */
  readonly isPerson: boolean;
}

/**
 * Creates the `ServerChanges` of a configuration. A change fails if the configuration was changed after it was read. The exceptions are
 * `enable` and `disable` through a running gateway, which do not send the expected revision.
 */
export async function openServerChanges(
  config: EditableConfig,
  options: ServerChangesOptions,
): Promise<ServerChanges> {
  const { version } = options.context;
  const expected = config.document.isNew ? undefined : computeConfigRevision(config.document.text, version);
  const { client, reason } = await findGatewayClient(config, options);
  if (client === undefined) return createLocalChanges(config, options, { expected, reason });
  const revision = expected === undefined ? {} : { expected };
  return {
    add: (servers, replace) => client.request('POST /api/servers', { servers, replace, ...revision }),
    update: (name, changes) => client.request('PATCH /api/servers/:name', { name, changes, ...revision }),
    remove: (name) => client.request('DELETE /api/servers/:name', { name, ...revision }),
    enable: (name) => client.request('POST /api/servers/:name/enable', { name }),
    disable: (name) => client.request('POST /api/servers/:name/disable', { name }),
    names: async () => (await client.request('GET /api/servers', {})).map(({ name }) => name),
  };
}

/** Opens the configuration and creates its `ServerChanges`, for a command that changes one server. */
export async function openConfigAndChanges(
  flag: string | undefined,
  context: CliContext,
): Promise<{ readonly changes: ServerChanges; readonly config: EditableConfig }> {
  const config = await openEditableConfig(flag, context);
  return { config, changes: await openServerChanges(config, { context, isPerson: isInteractive(context) }) };
}

/** Reports whether the running gateway has applied a change, and which gateways it does not reach. */
export function noteApplied(
  applied: ApplyResult,
  { document }: Pick<EditableConfig, 'document'>,
  { out }: CliContext,
): void {
  if (applied.state === 'later' && sharesDatabase(document.text)) out.note(LOCAL_FILE_NOTE);
  if (applied.state === 'applied')
    out.note(
      applied.isShared === true
        ? 'All gateways on the database have applied the change. The file was not changed.'
        : 'The running gateway has applied the change.',
    );
  else if (applied.state === 'later' && applied.reason !== '')
    out.note(`The running gateway has not applied the change: ${applied.reason}`);
}

/** Printed if gateways share a database, but a change was written only to the file of one of them. */
export const LOCAL_FILE_NOTE =
  'This file belongs to one gateway, so other gateways on the same database do not see the change. To change servers for all of them, use add, remove, enable and disable while the gateway runs.';

/** Returns where a change was written: `place` for text, `keptIn` for JSON output. */
export function describeStorage(
  file: string,
  applied: ApplyResult,
): { readonly place: string; readonly keptIn: 'file' | 'database' } {
  // A server that is neither new nor in the file was added through another gateway.
  const isShared =
    applied.state === 'unchanged' || (applied.state === 'applied' && applied.isShared === true);
  return isShared ? { place: 'the database', keptIn: 'database' } : { place: file, keptIn: 'file' };
}

interface GatewayLookup {
  readonly client?: AdminClient;
  /** Why the gateway is not used. Empty if none runs. */
  readonly reason: string;
}

/**
 * Returns a client for the running gateway of this file. A gateway of another version is not used, because it may read the file
 * differently. It notices the change of the file by itself.
 */
async function findGatewayClient(
  { stateDir, file }: EditableConfig,
  { context, isPerson }: ServerChangesOptions,
): Promise<GatewayLookup> {
  const [gateway] = await findReachableGateways(stateDir);
  if (gateway === undefined || gateway.record.config !== file) return { reason: '' };
  const { record } = gateway;
  if (record.version !== context.version)
    return { reason: `it has version ${record.version}. End it with: trunkline stop` };
  const { createSocketFetch } = await import('../../../app/shared-gateway/socket-fetch.ts');
  const send = createSocketFetch(record.socket);
  const client = createAdminClient((request) => {
    if (isPerson) request.headers.set(PERSON_HEADER, '1');
    return send(request);
  });
  return { client, reason: '' };
}

function createLocalChanges(
  { file, stateDir, trustDir }: EditableConfig,
  { context, isPerson }: ServerChangesOptions,
  { expected, reason }: { readonly expected: string | undefined; readonly reason: string },
): ServerChanges {
  const events: AuditEvent[] = [];
  const changes = new ServerEditor({
    file,
    trustDir,
    version: context.version,
    environment: toClientEnvironment(context),
    readIdentity: (text) => getOwnIdentity(context, text),
    apply: () => Promise.resolve({ state: 'later', reason }),
    record: (event) => void events.push(event),
    // Only changes by models need approval.
    isApproved: () => Promise.resolve(false),
    onRemoved: (name) => removeBundles(stateDir, name),
  });
  const by: ChangeAuthor = {
    caller: { id: 'cli', via: 'cli', profile: 'default' },
    kind: isPerson ? 'person' : 'program',
  };
  const recorded = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work;
    await recordEvents(events.splice(0), { file, stateDir, context });
    return result;
  };
  return {
    add: (servers, replace) =>
      recorded(changes.add({ servers }, { author: by, expectedRevision: expected, replace })),
    update: (name, entryChanges) =>
      recorded(changes.update(name, entryChanges, { author: by, expectedRevision: expected })),
    remove: (name) => recorded(changes.remove(name, { author: by, expectedRevision: expected })),
    enable: (name) => recorded(changes.enable(name, { author: by, expectedRevision: expected })),
    disable: (name) => recorded(changes.disable(name, { author: by, expectedRevision: expected })),
    names: () => Promise.resolve([]),
  };
}

/** Writes the audit records of changes that were made without a gateway. */
export async function recordEvents(
  events: readonly AuditEvent[],
  {
    file,
    text,
    stateDir,
    context,
  }: {
    readonly file: string;
    readonly text?: string | undefined;
    readonly stateDir: string;
    readonly context: CliContext;
  },
): Promise<void> {
  if (events.length === 0) return;
  const { version, auditWorker, env, home } = context;
  const [{ openAudit }, { resolveStoreLocation }, snapshot] = await Promise.all([
    import('../../../app/open-audit.ts'),
    import('../../../app/open-store.ts'),
    loadConfig({ file, text, version }),
  ]);
  const place = await resolveStoreLocation({ stateDir, env, home }, snapshot);
  await using trail = openAudit({ auditWorker, place }, snapshot.value, silentLogger);
  for (const event of events) trail.record(event);
}
