import { clients } from '../../../connect/clients.ts';
import type { Client } from '../../../connect/clients.ts';
import { bytesOf, Connections } from '../../../connect/connections.ts';
import { planConnection } from '../../../connect/plan-connection.ts';
import type { Connection } from '../../../connect/plan-connection.ts';
import { locations } from '../../../config/paths.ts';
import type { Addition } from '../../../import/apply-plan.ts';
import { readOne } from '../../../import/find-servers.ts';
import { planImport } from '../../../import/plan.ts';
import type { OnConflict } from '../../../import/plan.ts';
import { nearest } from '../../../lib/nearest.ts';
import { isOn } from '../../../manage/entry-in.ts';
import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import type { ConfigChange } from './config-change.ts';
import { ownProgram, placesOf } from './found-servers.ts';
import { ownStart, snippet } from './own-start.ts';

/** A client, its file as it is, and what would become of it. */
export interface PlannedConnection extends Connection {
  readonly client: Client;
  readonly file: string;
  readonly before: Buffer | undefined;
  readonly isChanged: boolean;
  /** Servers that our configuration lacks. */
  readonly additions: readonly Addition[];
  /** Those that it has, by our names. */
  readonly known: readonly string[];
  /** Of these, those that are switched off. */
  readonly disabled: readonly string[];
}

interface PlanOptions {
  readonly onConflict?: OnConflict | undefined;
  /** False leaves servers that our configuration lacks with the client, beside Trunkline. */
  readonly isTakingOver?: boolean;
}

const MARK = '\uFEFF';

export function clientNamed(name: string): Client {
  const found = clients.find(({ source }) => source.id === name);
  if (found !== undefined) return found;
  const ids = clients.map(({ source }) => source.id);
  const [meant] = nearest(name, ids, 1);
  const hint =
    meant === undefined
      ? `Known are ${ids.join(', ')}; other prints what any other client takes.`
      : `Did you mean ${meant}?`;
  throw new GatewayError('USAGE', `"${name}" is not a client whose configuration can be written. ${hint}`);
}

/** The file that a client has, or would have. */
export async function fileOf(
  client: Client,
  context: CliContext,
): Promise<{ readonly file: string; readonly bytes?: Buffer }> {
  const files = client.files(placesOf(context));
  for (const file of files) {
    const bytes = await bytesOf(file);
    if (bytes !== undefined) return { file, bytes };
  }
  return { file: files[0] ?? '' };
}

/** Works out what connecting a client would change; what cannot be edited ends with the lines to paste. */
export async function plannedConnection(
  client: Client,
  change: ConfigChange,
  context: CliContext,
  { onConflict = 'keep', isTakingOver = true }: PlanOptions = {},
): Promise<PlannedConnection> {
  const { source, extra, hasPath } = client;
  const { file, bytes } = await fileOf(client, context);
  const start = ownStart(context, { configFile: change.file, hasPath });
  const whole = bytes?.toString('utf8') ?? '';
  const mark = whole.startsWith(MARK) ? MARK : '';
  const text = whole.slice(mark.length);
  const found = await readOne(source, { path: file, scope: 'user' }, placesOf(context), () =>
    Promise.resolve(text),
  );
  // What belongs to one project must not be shown in all of them.
  const servers = (found?.servers ?? []).filter(({ project }) => project === undefined);
  const all = planImport([{ source, path: file, scope: 'user', servers }], {
    servers: change.document.servers,
    own: ownProgram(context, change.document.text),
    onConflict,
    configFile: change.file,
  });
  const steps = isTakingOver ? all : all.filter(({ state }) => state !== 'new');
  const left = all.flatMap((step) =>
    steps.includes(step) ? [] : [{ name: step.name, reason: 'it was not taken over' }],
  );
  try {
    if (found?.problem !== undefined) throw new Error(found.problem);
    const connection = planConnection(client, text, { steps, entry: { ...extra, ...start } });
    const additions = steps.flatMap(({ state, as, entry, secrets }) =>
      state === 'new' && entry !== undefined ? [{ name: as, entry, secrets }] : [],
    );
    const known = steps.filter(({ state }) => state === 'same').map(({ as }) => as);
    const disabled = known.filter((name) => {
      const entry = change.document.servers.get(name);
      return isJsonObject(entry) && !isOn(entry);
    });
    const isChanged = connection.text !== text;
    const after = { text: mark + connection.text, isChanged, staying: [...connection.staying, ...left] };
    return { ...connection, ...after, client, file, before: bytes, additions, known, disabled };
  } catch (error) {
    if (!(error instanceof Error) || error instanceof GatewayError) throw error;
    context.out.note(
      `Put this into it by hand, as ${source.title} writes servers:\n${snippet({ ...extra, ...start })}`,
    );
    const why = error.message.split('\n')[0] ?? '';
    throw new GatewayError('CONFIG_INVALID', `${file} was left as it is: ${why}.`, { details: { file } });
  }
}

/** Writes the client's file; our own configuration must have its servers by then. */
export async function writeConnection(
  planned: PlannedConnection,
  context: CliContext,
): Promise<string | undefined> {
  const { client, file, before, text } = planned;
  const connections = new Connections(locations(context).stateDir);
  const { backup } = await connections.write(client.source.id, { file, before, after: text }, new Date());
  return backup;
}
