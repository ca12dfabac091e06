import { adminClient } from '../../../admin/client.ts';
import type { AdminClient } from '../../../admin/client.ts';
import { PERSON_HEADER } from '../../../admin/proof.ts';
import { configRevision, loadConfig } from '../../../config/load.ts';
import type { AddedServers, Applied, ChangedServer } from '../../../manage/change-results.ts';
import type { ChangedBy } from '../../../manage/changed-by.ts';
import { sharesDatabase } from '../../../manage/entry-in.ts';
import { ServerChanges } from '../../../manage/server-changes.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { AuditEvent } from '../../../observe/audit/audit-record.ts';
import { silentLogger } from '../../../observe/log.ts';
import type { CliContext } from '../../context.ts';
import { linesToGateways } from '../../line/lines-to-gateways.ts';
import { isTerminal } from './ask.ts';
import { configChange } from './config-change.ts';
import type { ConfigChange } from './config-change.ts';
import { ownProgram, placesOf } from './found-servers.ts';

/** The changes of servers that commands make: by the gateway where one runs, else in this process. */
export interface ServerVerbs {
  add(servers: Readonly<Record<string, JsonObject>>, replace: boolean): Promise<AddedServers>;
  /** Null deletes a key of the entry. */
  update(name: string, changes: JsonObject): Promise<ChangedServer>;
  remove(name: string): Promise<ChangedServer>;
  enable(name: string): Promise<ChangedServer>;
  disable(name: string): Promise<ChangedServer>;
}

interface VerbsOptions {
  readonly context: CliContext;
  /** Whether somebody sits at the terminal, or said that it need not wait for them. */
  readonly isPerson: boolean;
}

/** Fails on what somebody else changed since `change` was read. */
export async function serverVerbs(change: ConfigChange, options: VerbsOptions): Promise<ServerVerbs> {
  const { version } = options.context;
  const expected = change.document.isNew ? undefined : configRevision(change.document.text, version);
  const { client, reason } = await runningGateway(change, options);
  if (client === undefined) return ownVerbs(change, options, { expected, reason });
  const about = expected === undefined ? {} : { expected };
  return {
    add: (servers, replace) => client.ask('POST /api/servers', { servers, replace, ...about }),
    update: (name, changes) => client.ask('PATCH /api/servers/:name', { name, changes, ...about }),
    remove: (name) => client.ask('DELETE /api/servers/:name', { name, ...about }),
    enable: (name) => client.ask('POST /api/servers/:name/enable', { name }),
    disable: (name) => client.ask('POST /api/servers/:name/disable', { name }),
  };
}

/** The same for a command that changes one server of the configuration by its name. */
export async function verbsOf(
  config: string | undefined,
  context: CliContext,
): Promise<{ readonly verbs: ServerVerbs; readonly change: ConfigChange }> {
  const change = await configChange(config, context);
  return { change, verbs: await serverVerbs(change, { context, isPerson: isTerminal(context) }) };
}

/** Says what the running gateway made of a change, and whom it does not reach, where there is something to say. */
export function tellApplied(
  applied: Applied,
  { document }: Pick<ConfigChange, 'document'>,
  { out }: CliContext,
): void {
  if (applied.state === 'later' && sharesDatabase(document.text)) out.note(OF_ONE_FILE);
  if (applied.state === 'applied')
    out.note(
      applied.isShared === true
        ? 'All gateways on the database have taken up the change; the file stays as it is.'
        : 'The running gateway has taken up the change.',
    );
  else if (applied.state === 'later' && applied.reason !== '')
    out.note(`The running gateway has not taken up the change yet: ${applied.reason}`);
}

/** Said where gateways share a database and a change did not get there. */
export const OF_ONE_FILE =
  'The file is that of this gateway: others on the same database do not get what is written there. What add, remove, enable and disable change while the gateway runs is kept in the database, for all of them.';

/** Where a change was written, for people and for programs. */
export function keptIn(
  file: string,
  applied: Applied,
): { readonly place: string; readonly keptIn: 'file' | 'database' } {
  // What is not new and not in the file was added at another gateway.
  const isShared =
    applied.state === 'unchanged' || (applied.state === 'applied' && applied.isShared === true);
  return isShared ? { place: 'the database', keptIn: 'database' } : { place: file, keptIn: 'file' };
}

interface Running {
  readonly client?: AdminClient;
  /** Why it is not asked. */
  readonly reason: string;
}

/** One of another version may read the file differently; it notices the change by itself. */
async function runningGateway(
  { stateDir, file }: ConfigChange,
  { context, isPerson }: VerbsOptions,
): Promise<Running> {
  const [reached] = await linesToGateways(stateDir);
  if (reached === undefined || reached.record.config !== file) return { reason: '' };
  const { record } = reached;
  if (record.version !== context.version)
    return { reason: `it is of version ${record.version}; trunkline stop ends it.` };
  const { socketSend } = await import('../../../attach/socket-send.ts');
  const send = socketSend(record.socket);
  const client = adminClient((request) => {
    if (isPerson) request.headers.set(PERSON_HEADER, '1');
    return send(request);
  });
  return { client, reason: '' };
}

function ownVerbs(
  { file, stateDir, trustDir }: ConfigChange,
  { context, isPerson }: VerbsOptions,
  { expected, reason }: { readonly expected: string | undefined; readonly reason: string },
): ServerVerbs {
  const events: AuditEvent[] = [];
  const changes = new ServerChanges({
    ...{ file, trustDir, version: context.version, places: placesOf(context) },
    own: (text) => ownProgram(context, text),
    applied: () => Promise.resolve({ state: 'later', reason }),
    record: (event) => void events.push(event),
    // Commands are no models, whom alone this is asked for.
    isApproved: () => Promise.resolve(false),
  });
  const by: ChangedBy = {
    caller: { id: 'cli', via: 'cli', profile: 'default' },
    is: isPerson ? 'person' : 'program',
  };
  const recorded = async <T>(work: Promise<T>): Promise<T> => {
    const result = await work;
    await writeDown(events.splice(0), { file, stateDir, context });
    return result;
  };
  return {
    add: (servers, replace) => recorded(changes.add({ servers }, { by, expected, replace })),
    update: (name, wanted) => recorded(changes.update(name, wanted, { by, expected })),
    remove: (name) => recorded(changes.remove(name, { by, expected })),
    enable: (name) => recorded(changes.enable(name, { by, expected })),
    disable: (name) => recorded(changes.disable(name, { by, expected })),
  };
}

/** Where no gateway runs, the record of changes is written here. */
async function writeDown(
  events: readonly AuditEvent[],
  {
    file,
    stateDir,
    context,
  }: { readonly file: string; readonly stateDir: string; readonly context: CliContext },
): Promise<void> {
  if (events.length === 0) return;
  const { version, auditWorker } = context;
  const { env, home } = context;
  const [{ openAudit }, { storePlace }, snapshot] = await Promise.all([
    import('../../../app/open-audit.ts'),
    import('../../../app/open-store.ts'),
    loadConfig({ file, version }),
  ]);
  const place = await storePlace({ stateDir, env, home }, snapshot);
  await using trail = openAudit({ auditWorker, place }, snapshot.value, silentLogger);
  for (const event of events) trail.record(event);
}
