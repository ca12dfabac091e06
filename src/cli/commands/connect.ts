import { resolveLocations } from '../../config/find-config.ts';
import { ConnectionHistory } from '../../setup/connect/connection-history.ts';
import { restoreClient } from '../../setup/connect/restore-client.ts';
import type { RestoreResult } from '../../setup/connect/restore-client.ts';
import type { SecretDestination } from '../../setup/import/import-edits.ts';
import type { ConflictStrategy } from '../../setup/import/plan-import.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { openTerminalPrompt, noTerminalError } from './setup/terminal-prompt.ts';
import { openEditableConfig } from './setup/editable-config.ts';
import {
  getConnectableClient,
  planClientConnection,
  writeConnection,
  printConnectionPlan,
} from './setup/connect-client.ts';
import type { ClientConnectionPlan } from './setup/connect-client.ts';
import { findHeldServers, approveHeldServers, noteHeldServers } from './setup/held-servers.ts';
import { createLaunchEntry, formatSnippet } from './setup/launch-entry.ts';
import { addPlannedServers } from './setup/add-servers.ts';
import { noteApplied } from './setup/server-changes.ts';
import { secretsToJson, notePlaintextSecrets } from './setup/print-import-plan.ts';

export interface ConnectOptions extends GlobalOptions {
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly merge?: boolean;
  readonly split?: boolean;
  readonly conflicts?: ConflictStrategy;
  readonly references?: SecretDestination | true;
  readonly trust?: boolean;
  readonly yes?: boolean;
}

/** Writes Trunkline into a client's configuration and moves the client's servers to Trunkline. */
export async function runConnect(
  options: ConnectOptions,
  context: CliContext,
  [name = '']: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  if (options.undo === true) return undo(name, options, context);
  if (options.merge === true)
    throw new GatewayError('USAGE', '--merge requires --undo. Together they restore only the servers.');
  const config = await openEditableConfig(options.config, context);
  if (name === 'other') {
    const trunkline = createLaunchEntry(context, { configFile: config.file, hasPath: false });
    out.line(formatSnippet({ trunkline }));
    return 0;
  }
  const client = getConnectableClient(name);
  const planned = await planClientConnection(client, config, context, {
    onConflict: options.conflicts,
    isSplit: options.split,
  });
  const scope = { config: options.config, context };
  const held = planned.isChanged ? await findHeldServers(planned.existingServers, scope) : [];
  if (out.style.format === 'text') {
    printConnectionPlan(planned, held, context);
    // Without --dry-run, addPlannedServers reports secrets and asks about them.
    if (options.dryRun === true) notePlaintextSecrets(planned.newServers, context);
  }
  if (!planned.isChanged || options.dryRun === true) {
    if (out.style.format === 'json') out.json(toReport(planned, held));
    else if (!planned.isChanged) out.line(`${client.source.title} is already connected.`);
    return 0;
  }
  using prompt = openTerminalPrompt(context);
  if (options.yes !== true) {
    if (prompt === undefined) {
      if (out.style.format === 'json') out.json(toReport(planned, held));
      throw noTerminalError(
        `${planned.file} would be changed.`,
        'Add --yes to change it, or --dry-run to see the changes',
      );
    }
    if (!(await prompt.confirm(`Change ${planned.file}?`))) {
      out.note('Nothing was changed.');
      return 0;
    }
  }
  const { applied, trust } = await addPlannedServers(config, planned.newServers, options, {
    context,
    prompt,
  });
  const stillHeld = trust === 'first-sight' ? await approveHeldServers(held, scope) : held;
  const backup = await writeConnection(planned, await config.reread(), context);
  const newlyHeld = trust === 'manual' ? planned.newServers.map((server) => server.name) : [];
  if (out.style.format === 'json')
    out.json(toReport(planned, [...newlyHeld, ...stillHeld], { written: true, backup }));
  printConnected(name, client.source.title, options, context);
  noteApplied(applied, config, context);
  noteHeldServers(stillHeld, context);
  return 0;
}

function printConnected(name: string, title: string, { split }: ConnectOptions, { out }: CliContext): void {
  if (out.style.format === 'text') {
    out.line(`${title} now uses Trunkline. Restart it to apply the change.`);
    out.line(out.paint.dim(`Undo with: trunkline connect ${name} --undo`));
  }
  if (split === true)
    out.note('The entries need a gateway that keeps running. Start it with: trunkline serve --http');
}

function toReport(
  { client, file, moved, unmoved, written: entries, newServers, remarks }: ClientConnectionPlan,
  held: readonly string[],
  { written, backup }: { readonly written: boolean; readonly backup?: string | undefined } = {
    written: false,
  },
): object {
  return {
    client: client.source.id,
    file,
    written,
    entries,
    moved,
    staying: unmoved,
    remarks: remarks.length > 0 ? remarks : undefined,
    secrets: secretsToJson(newServers),
    held: held.length > 0 ? held : undefined,
    backup,
  };
}

/** Completes a sentence that begins with the file. */
export const RESTORE_OUTCOMES: Readonly<Record<RestoreResult, string>> = {
  restored: 'was restored byte for byte',
  removed: 'was removed, because it did not exist before',
  merged: 'has its servers back',
};

async function undo(name: string, options: ConnectOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const client = getConnectableClient(name);
  const connections = new ConnectionHistory(resolveLocations(context).stateDir);
  const records = await connections.records(name);
  const record = records.at(-1);
  if (record === undefined)
    throw new GatewayError(
      'ENTRY_NOT_FOUND',
      `Trunkline has not connected ${client.source.title}, so there is nothing to undo. See the connectable clients with: trunkline connect --help`,
    );
  const isDone = options.dryRun !== true;
  const result = isDone
    ? await restoreClient(connections, client, record, options.merge === true)
    : undefined;
  if (!isDone) out.note(`${record.file} would be restored.`);
  const further = records.length - 1;
  if (out.style.format === 'json') out.json({ client: name, file: record.file, undone: isDone, further });
  else if (result !== undefined) {
    out.line(`${record.file} ${RESTORE_OUTCOMES[result]}.`);
    if (further > 0) out.note(`${formatCount(further, 'earlier change')} can be undone in the same way.`);
    out.note('The servers stay in the configuration of Trunkline. Remove one with: trunkline remove SERVER');
  }
  return 0;
}
