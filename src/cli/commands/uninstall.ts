import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { listGatewayRecords } from '../../app/shared-gateway/gateway-record.ts';
import { resolveLocations } from '../../config/find-config.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { isProcessAlive } from '../../core/lib/is-process-alive.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { ConnectionHistory } from '../../setup/connect/connection-history.ts';
import { restoreClient } from '../../setup/connect/restore-client.ts';
import type { RestoreResult } from '../../setup/connect/restore-client.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { RESTORE_OUTCOMES } from './connect.ts';
import { getConnectableClient } from './setup/connect-client.ts';
import { noTerminalError, openTerminalPrompt } from './setup/terminal-prompt.ts';
import { requestStop, waitForExit } from './stop.ts';

export interface UninstallOptions extends GlobalOptions {
  readonly keepState?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

interface UninstallPlan {
  /** The connected clients, with the number of changes that are undone. */
  readonly clients: ReadonlyMap<string, number>;
  /** The state folders that have a running gateway. */
  readonly running: readonly string[];
  readonly stateDir: string;
  readonly configFile: string;
  readonly isStateRemoved: boolean;
}

/** Reverts what Trunkline has changed on this machine: restores clients, stops gateways, and deletes the state. */
export async function runUninstall(options: UninstallOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const history = new ConnectionHistory(resolveLocations(context).stateDir);
  const plan = await planUninstall(options, history, context);
  if (out.style.format === 'text') printPlan(plan, context);
  if (options.dryRun === true) {
    if (out.style.format === 'json') out.json({ ...planToJson(plan), done: false });
    return 0;
  }
  if (!(await confirmPlan(options, context))) return 0;
  const failures = await restoreClients(plan, history, context);
  for (const stateDir of plan.running) await stopGateways(stateDir);
  // The state contains the backups of the clients' files, so it stays until all of them are restored.
  const isStateRemoved = plan.isStateRemoved && failures.length === 0;
  if (isStateRemoved) await rm(plan.stateDir, { recursive: true, force: true });
  if (out.style.format === 'json') out.json({ ...planToJson(plan), failures, isStateRemoved, done: true });
  else printResult(plan, { failures, isStateRemoved }, context);
  return failures.length === 0 ? 0 : 1;
}

async function planUninstall(
  { keepState }: UninstallOptions,
  history: ConnectionHistory,
  context: CliContext,
): Promise<UninstallPlan> {
  const { stateDir, configFile } = resolveLocations(context);
  if (keepState !== true) await checkStateContent(stateDir);
  const clients = new Map<string, number>();
  for (const client of await history.clients()) clients.set(client, (await history.records(client)).length);
  const configsDir = join(stateDir, 'configs');
  const others = (await readdir(configsDir).catch(() => [])).map((name) => join(configsDir, name));
  const running = [stateDir, ...others].filter((folder) =>
    listGatewayRecords(folder).some(({ pid }) => isProcessAlive(pid)),
  );
  return { clients, running, stateDir, configFile, isStateRemoved: keepState !== true };
}

/** Matches the names of everything that Trunkline creates in a state folder, temporary files of atomic writes and damaged databases included. */
const STATE_NAME =
  /^(?:(?:catalog|dashboard-sessions|failures|login-path|paused|shown-approvals|trusted)\.json(?:\.\w+\.tmp)?|trunkline\.db.*|(?:secret\.key|dashboard-port)(?:\.\w+\.tmp)?|ad-hoc|approvals|cli-tools|code|configs|connected|logs|run|wraps|\.DS_Store)$/;

const MAX_FOREIGN_NAMES = 5;

/** Throws if the folder contains anything that Trunkline did not create, because TRUNKLINE_HOME may name a folder of something else. */
async function checkStateContent(stateDir: string): Promise<void> {
  const names = await readdir(stateDir).catch(() => []);
  const foreign = names.filter((name) => !STATE_NAME.test(name));
  if (foreign.length === 0) return;
  const more = foreign.length > MAX_FOREIGN_NAMES ? ` and ${foreign.length - MAX_FOREIGN_NAMES} more` : '';
  const list = foreign.slice(0, MAX_FOREIGN_NAMES).join(', ') + more;
  throw new GatewayError(
    'USAGE',
    `Nothing was changed, because ${stateDir} also contains what Trunkline did not create: ${list}. Check TRUNKLINE_HOME and XDG_STATE_HOME. If the folder is Trunkline's, move the rest away, or keep the folder with --keep-state.`,
    { details: { stateDir, foreign: foreign.slice(0, MAX_FOREIGN_NAMES) } },
  );
}

function planToJson({ clients, running, stateDir, configFile, isStateRemoved }: UninstallPlan): object {
  return {
    clients: [...clients.keys()],
    gateways: running.length,
    state: stateDir,
    removesState: isStateRemoved,
    config: configFile,
  };
}

function printPlan(
  { clients, running, stateDir, configFile, isStateRemoved }: UninstallPlan,
  { out }: CliContext,
): void {
  const names = [...clients.keys()];
  out.note(
    names.length === 0
      ? 'No client is connected.'
      : `Restores the configuration of ${formatCount(names.length, 'client')}: ${names.join(', ')}`,
  );
  if (running.length > 0) out.note(`Stops ${formatCount(running.length, 'running gateway')}`);
  out.note(
    isStateRemoved
      ? `Deletes ${stateDir}: the cached catalog, sign-ins, approvals, API keys and the audit log`
      : `Keeps ${stateDir}`,
  );
  out.note(`Keeps ${configFile}, which holds your servers`);
}

async function confirmPlan({ yes }: UninstallOptions, context: CliContext): Promise<boolean> {
  if (yes === true) return true;
  using prompt = openTerminalPrompt(context);
  if (prompt === undefined)
    throw noTerminalError(
      'Nothing was changed.',
      'Add --yes to uninstall, or --dry-run to see only the plan',
    );
  if (await prompt.confirm('Continue?', false)) return true;
  context.out.note('Nothing was changed.');
  return false;
}

/** Undoes all changes of all clients, the newest first. Returns a message for each client that could not be restored. */
async function restoreClients(
  { clients }: UninstallPlan,
  history: ConnectionHistory,
  context: CliContext,
): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const name of clients.keys()) {
    try {
      await restoreAllChanges(name, history, context);
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failures;
}

async function restoreAllChanges(
  name: string,
  history: ConnectionHistory,
  { out }: CliContext,
): Promise<void> {
  const client = getConnectableClient(name);
  for (let record; (record = (await history.records(name)).at(-1)) !== undefined;) {
    let result: RestoreResult;
    try {
      result = await restoreClient(history, client, record, false);
    } catch {
      // The file has changed since it was connected. Its servers come back, and the other changes stay.
      result = await restoreClient(history, client, record, true);
    }
    if (out.style.format === 'text') out.line(`${record.file} ${RESTORE_OUTCOMES[result]}.`);
  }
}

async function stopGateways(stateDir: string): Promise<void> {
  for (let pid; (pid = await requestStop(stateDir)) !== undefined;) await waitForExit(pid);
}

function printResult(
  { clients, running, stateDir }: UninstallPlan,
  { failures, isStateRemoved }: { readonly failures: readonly string[]; readonly isStateRemoved: boolean },
  { out }: CliContext,
): void {
  if (running.length > 0) out.line(`Stopped ${formatCount(running.length, 'gateway')}.`);
  if (isStateRemoved) out.line(`Deleted ${stateDir}.`);
  if (clients.size > 0)
    out.note('Restart these clients. Until then, a running client may start Trunkline again.');
  for (const failure of failures) out.note(failure);
  if (failures.length > 0)
    out.note(
      `${stateDir} was kept, because it contains the backups of these clients. Repair their configuration files, then run this command again.`,
    );
  else out.line('Remove the program itself with: npm rm --global trunkline');
}
