import { resolveLocations } from '../../config/find-config.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { isJsonObject } from '../../core/json.ts';
import { OWN_NAME } from '../../setup/connect/client-entries.ts';
import { connectableClients } from '../../setup/connect/connectable-clients.ts';
import type { ConnectableClient } from '../../setup/connect/connectable-clients.ts';
import { ConnectionHistory } from '../../setup/connect/connection-history.ts';
import type { EntryFault } from '../../setup/connect/inspect-own-entry.ts';
import { isClientRecorded, readLastConnection } from '../../setup/connect/seen-clients.ts';
import type { ImportStep } from '../../setup/import/plan-import.ts';
import type { CliContext } from '../context.ts';
import { findClientFile, findFaults, planClientImport } from './setup/connect-client.ts';
import type { Finding } from './doctor/finding.ts';

interface CheckedConfig {
  readonly file: string;
  readonly stateDir: string;
  /** The value of `--config`. */
  readonly flag: string | undefined;
}

/** Checks the entries with which clients start Trunkline. Clients without such an entry are left out. */
export async function checkClients(config: CheckedConfig, context: CliContext): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const client of connectableClients) findings.push(...(await checkClient(client, config, context)));
  return findings;
}

async function checkClient(
  client: ConnectableClient,
  config: CheckedConfig,
  context: CliContext,
): Promise<readonly Finding[]> {
  const { file, bytes } = await findClientFile(client, context).catch(() => ({ file: '', bytes: undefined }));
  if (bytes === undefined) return [];
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const document = { servers: new Map<string, unknown>(), text: '' };
  const { all } = await planClientImport(
    client,
    { file, text },
    { config: { file: config.file, document }, context, onConflict: 'keep' },
  );
  const own = all.filter(({ state }) => state === 'own');
  if (own.length === 0) return [];
  const faults = findFaults(own, config.file, context);
  const isDefault = config.flag === undefined || config.flag === context.env['TRUNKLINE_CONFIG'];
  const fix = `trunkline connect ${client.source.id}${isDefault ? '' : ` --config ${quoteShellWord(config.file)}`}`;
  const isUsable = own.some(({ name }) => !faults.has(name));
  const problems = [
    ...own.flatMap((step) => toFaultFinding(step, faults.get(step.name), { client, isUsable, fix })),
    ...(isUsable ? findDeferral(client, text, fix) : []),
    ...(isUsable ? await findMissingRestart(client, file, { config, context }) : []),
  ];
  if (problems.length > 0) return problems;
  return [{ check: 'client', subject: client.source.id, status: 'ok', message: `uses Trunkline (${file})` }];
}

function toFaultFinding(
  { name }: ImportStep,
  fault: EntryFault | undefined,
  {
    client,
    isUsable,
    fix,
  }: { readonly client: ConnectableClient; readonly isUsable: boolean; readonly fix: string },
): readonly Finding[] {
  const { id, title } = client.source;
  const about = { check: 'client', subject: id, fix } as const;
  if (fault?.kind === 'missing-program')
    return [
      {
        ...about,
        status: 'failure',
        message: `${title} cannot start Trunkline: its entry "${name}" names ${fault.path}, which does not exist`,
        exit: 1,
      },
    ];
  // An entry for another configuration is no problem if another entry uses this one.
  if (fault === undefined || isUsable) return [];
  const message = `${title} starts Trunkline with another configuration, ${fault.path}, so it does not see these servers`;
  return [{ ...about, status: 'warning', message }];
}

/** Reports an entry without the settings that keep Trunkline's tools out of the client's own tool search. */
function findDeferral(
  { source, format, declaration }: ConnectableClient,
  text: string,
  fix: string,
): readonly Finding[] {
  const entry = format.readServers(text).get(OWN_NAME);
  if (!isJsonObject(entry)) return [];
  const missing = Object.entries(declaration.keepLoaded ?? {}).flatMap(([key, value]) => {
    const current = entry[key];
    if (current === undefined) return [key];
    const lacksItems =
      Array.isArray(value) && Array.isArray(current) && value.some((item) => !current.includes(item));
    return lacksItems ? [key] : [];
  });
  if (missing.length === 0) return [];
  return [
    {
      check: 'client',
      subject: source.id,
      status: 'warning',
      message: `${source.title} may hide the tools of Trunkline behind its own search: its entry lacks ${missing.join(', ')}`,
      fix,
    },
  ];
}

/** Reports a client that has not connected since `connect` changed its file. Clients whose name is unknown cannot be recognised. */
async function findMissingRestart(
  { source: { id, title } }: ConnectableClient,
  file: string,
  { config, context }: { readonly config: CheckedConfig; readonly context: CliContext },
): Promise<readonly Finding[]> {
  if (!isClientRecorded(id)) return [];
  const history = new ConnectionHistory(resolveLocations(context).stateDir);
  const records = await history.records(id).catch(() => []); // connect reports a damaged history.
  const { at } = records.findLast((record) => record.file === file) ?? {};
  const lastConnection = await readLastConnection(config.stateDir, id);
  if (at === undefined || (lastConnection !== undefined && lastConnection >= Date.parse(at))) return [];
  return [
    {
      check: 'client',
      subject: id,
      status: 'warning',
      message: `${title} has not connected since Trunkline was written into its configuration`,
      fix: `Restart ${title}. It reads its configuration only when it starts.`,
    },
  ];
}
