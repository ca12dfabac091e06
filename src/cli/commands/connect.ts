import { locations } from '../../config/paths.ts';
import { bytesOf, Connections, replace } from '../../connect/connections.ts';
import { planReturn } from '../../connect/plan-connection.ts';
import type { SecretPlace } from '../../import/apply-plan.ts';
import type { OnConflict } from '../../import/plan.ts';
import { GatewayError } from '../../model/errors.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { counted } from './listing.ts';
import { askAtTerminal, cannotAsk } from './set-up/ask.ts';
import { configChange } from './set-up/config-change.ts';
import { clientNamed, plannedConnection, writeConnection } from './set-up/connect-client.ts';
import type { PlannedConnection } from './set-up/connect-client.ts';
import { heldServers, takeHeld, tellHeld } from './set-up/held-servers.ts';
import { ownStart, snippet } from './set-up/own-start.ts';
import { addPlanned } from './set-up/plain-secrets.ts';
import { tellApplied } from './set-up/server-verbs.ts';
import { secretsJson, tellSecrets } from './set-up/show-plan.ts';
import { tellConnection } from './set-up/tell-connection.ts';

export interface ConnectOptions extends GlobalOptions {
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly merge?: boolean;
  readonly conflicts?: OnConflict;
  readonly references?: SecretPlace | true;
  readonly trust?: boolean;
  readonly yes?: boolean;
}

/** Writes Trunkline into a client's configuration and takes over that client's servers. */
export async function connect(
  options: ConnectOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  if (options.undo === true) return undo(name, options, context);
  if (options.merge === true)
    throw new GatewayError('USAGE', '--merge goes with --undo: it puts only the servers back.');
  const change = await configChange(options.config, context);
  if (name === 'other') {
    out.line(snippet(ownStart(context, { configFile: change.file, hasPath: true })));
    return 0;
  }
  const client = clientNamed(name);
  const planned = await plannedConnection(client, change, context, { onConflict: options.conflicts });
  const of = { config: options.config, context };
  const held = planned.isChanged ? await heldServers(planned.known, of) : [];
  if (out.style.format === 'text') {
    tellConnection(planned, held, context);
    // Without --dry-run it is said, and asked, when they are added.
    if (options.dryRun === true) tellSecrets(planned.additions, context);
  }
  if (!planned.isChanged || options.dryRun === true) {
    if (out.style.format === 'json') out.json(report(planned, held));
    else if (!planned.isChanged) out.line(`${client.source.title} is connected already.`);
    return 0;
  }
  using ask = askAtTerminal(context);
  if (options.yes !== true) {
    if (ask === undefined) {
      if (out.style.format === 'json') out.json(report(planned, held));
      throw cannotAsk(
        `${planned.file} would be changed.`,
        '--yes changes it, --dry-run only shows what would be done',
      );
    }
    if (!(await ask.confirm(`Change ${planned.file}?`))) {
      out.note('Nothing was changed.');
      return 0;
    }
  }
  const { applied, trust } = await addPlanned(change, planned.additions, options, { context, ask });
  const left = trust === 'first-sight' ? await takeHeld(held, of) : held;
  const backup = await writeConnection(planned, context);
  const waiting = trust === 'manual' ? planned.additions.map((each) => each.name) : [];
  if (out.style.format === 'json')
    out.json(report(planned, [...waiting, ...left], { written: true, backup }));
  else {
    out.line(`${client.source.title} uses Trunkline now; start it anew to see it.`);
    out.line(out.paint.dim(`Undo with: trunkline connect ${name} --undo`));
  }
  tellApplied(applied, change, context);
  tellHeld(left, context);
  return 0;
}

function report(
  { client, file, moved, staying, additions }: PlannedConnection,
  held: readonly string[],
  done: { readonly written: boolean; readonly backup?: string | undefined } = { written: false },
): object {
  const { written, backup } = done;
  return {
    ...{ client: client.source.id, file, written, moved, staying },
    ...secretsJson(additions),
    ...(held.length > 0 && { held }),
    ...(backup !== undefined && { backup }),
  };
}

async function undo(name: string, options: ConnectOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const client = clientNamed(name);
  const connections = new Connections(locations(context).stateDir);
  const records = await connections.records(name);
  const record = records.at(-1);
  if (record === undefined)
    throw new GatewayError(
      'ENTRY_NOT_FOUND',
      `Trunkline has not connected ${client.source.title}, so there is nothing to undo.`,
    );
  const before = await connections.before(record);
  if (options.dryRun === true) out.note(`${record.file} would be put back.`);
  else if (options.merge === true) {
    const now = await bytesOf(record.file);
    const text = merged(
      client,
      { before: before?.toString('utf8') ?? '', now: now?.toString('utf8') ?? '' },
      record.file,
    );
    await replace(record.file, now, Buffer.from(text));
    await connections.forget(name);
  } else await connections.undo(name, record);
  const isDone = options.dryRun !== true;
  const further = records.length - 1;
  if (out.style.format === 'json') out.json({ client: name, file: record.file, undone: isDone, further });
  else if (isDone) {
    out.line(
      `${record.file} ${options.merge === true ? 'has its servers back' : before === undefined ? 'is gone, as before' : 'is as it was, to the byte'}.`,
    );
    if (further > 0) out.note(`${counted(further, 'earlier change')} can be undone as well.`);
    out.note("Trunkline's own configuration keeps the servers; trunkline remove takes them out.");
  }
  return 0;
}

function merged(
  client: ReturnType<typeof clientNamed>,
  texts: { readonly before: string; readonly now: string },
  file: string,
): string {
  try {
    return planReturn(client, texts);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new GatewayError('CONFIG_INVALID', `${file} was left as it is: ${why}.`, { cause: error });
  }
}
