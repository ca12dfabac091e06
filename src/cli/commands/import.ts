import type { SecretDestination } from '../../setup/import/import-edits.ts';
import { planImport } from '../../setup/import/plan-import.ts';
import type { ConflictStrategy, ImportStep } from '../../setup/import/plan-import.ts';
import { findSimilar } from '../../core/lib/find-similar.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { openTerminalPrompt, noTerminalError } from './setup/terminal-prompt.ts';
import { openEditableConfig } from './setup/editable-config.ts';
import { findImportableServers, getOwnIdentity } from './setup/find-importable-servers.ts';
import { filterManuallyTrusted, findHeldServers, noteHeldServers } from './setup/held-servers.ts';
import { addPlannedServers } from './setup/add-servers.ts';
import { describeStorage, noteApplied } from './setup/server-changes.ts';
import {
  importPlanToJson,
  printImportPlan,
  noteLeftOutFiles,
  noteRemarks,
  noteUnreadableFiles,
  notePlaintextSecrets,
} from './setup/print-import-plan.ts';

export interface ImportOptions extends GlobalOptions {
  readonly from?: readonly string[];
  readonly only?: readonly string[];
  readonly conflicts?: ConflictStrategy;
  readonly references?: SecretDestination | true;
  readonly dryRun?: boolean;
  readonly trust?: boolean;
  readonly yes?: boolean;
}

/** Lists the servers of other clients and adds the new ones to the configuration. */
export async function runImport(options: ImportOptions, context: CliContext): Promise<ExitCode> {
  const { out } = context;
  const isJson = out.style.format === 'json';
  const config = await openEditableConfig(options.config, context);
  const { found, leftOut } = await findImportableServers(options.from, context);
  noteUnreadableFiles(found, context);
  noteLeftOutFiles(leftOut, context);
  const all = planImport(found, {
    servers: config.document.servers,
    identity: getOwnIdentity(context, config.document.text),
    onConflict: options.conflicts ?? 'keep',
    configFile: config.file,
  });
  const steps = options.only === undefined ? all : selectSteps(all, options.only);
  const newServers = listNewServers(steps, options);
  const result = (applied: boolean) => ({
    config: config.file,
    applied,
    plan: importPlanToJson(steps),
    leftOut: leftOut.length > 0 ? leftOut.map(({ path }) => path) : undefined,
  });
  if (!isJson) printPlan(steps, options, context);
  const same = steps.filter(({ state }) => state === 'same').map(({ as }) => as);
  noteHeldServers(
    await findHeldServers(filterManuallyTrusted(same, config), { config: options.config, context }),
    context,
  );
  if (newServers.length === 0 || options.dryRun === true) {
    if (isJson) out.json(result(false));
    else if (steps.length > 0)
      out.line(
        newServers.length === 0
          ? '\nThere are no new servers.'
          : `\n${formatCount(newServers.length, 'server')} would be added to ${config.file}`,
      );
    return 0;
  }
  using prompt = openTerminalPrompt(context);
  if (options.yes !== true) {
    if (prompt === undefined) {
      if (isJson) out.json(result(false));
      throw noTerminalError(
        `${formatCount(newServers.length, 'server')} would be added to ${config.file}.`,
        'Add --yes to add them, or --dry-run to see them',
      );
    }
    if (!(await prompt.confirm(`Add ${formatCount(newServers.length, 'server')} to ${config.file}?`))) {
      out.note('Nothing was changed.');
      return 0;
    }
  }
  const { applied, trust } = await addPlannedServers(config, newServers, options, { context, prompt });
  const { place, ...storage } = describeStorage(config.file, applied);
  const held = newServers.filter(({ isHeld }) => isHeld || trust === 'manual').map(({ name }) => name);
  if (isJson) out.json({ ...result(true), ...storage, trust, held: held.length > 0 ? held : undefined });
  else out.line(`Added ${formatCount(newServers.length, 'server')} to ${place}`);
  noteApplied(applied, config, context);
  return 0;
}

/** Returns the servers to add. Those of project files are held, unless `--trust` accepts them. */
function listNewServers(steps: readonly ImportStep[], { trust }: ImportOptions) {
  return steps.flatMap(({ state, as, entry, secrets, from }) => {
    const isHeld = from.scope === 'project' && trust !== true;
    return state === 'new' && entry !== undefined ? [{ name: as, entry, secrets, isHeld }] : [];
  });
}

/** Rejects unknown names, because a mistyped name would silently select nothing. */
function selectSteps(steps: readonly ImportStep[], only: readonly string[]): readonly ImportStep[] {
  const names = new Set(steps.map(({ name }) => name));
  const [missing] = only.filter((name) => !names.has(name));
  if (missing === undefined) return steps.filter(({ name }) => only.includes(name));
  const [suggestion] = findSimilar(missing, names, 1);
  const hint = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`;
  throw new GatewayError('ENTRY_NOT_FOUND', `No client on this machine has a server "${missing}".${hint}`, {
    details: { kind: 'server', server: missing },
  });
}

function printPlan(
  steps: readonly ImportStep[],
  { conflicts, dryRun }: ImportOptions,
  context: CliContext,
): void {
  const { out } = context;
  if (steps.length === 0) out.line('No other client on this machine has servers.');
  else printImportPlan(steps, context);
  if (conflicts === undefined && steps.some(({ state }) => state === 'conflicting'))
    out.note(
      'The names of some servers are taken. To add these servers under other names, use --conflicts rename.',
    );
  noteRemarks(steps, context);
  // Without --dry-run, addPlannedServers reports secrets and asks about them.
  if (dryRun === true)
    notePlaintextSecrets(
      steps.flatMap(({ as, secrets, state }) => (state === 'new' ? [{ name: as, secrets }] : [])),
      context,
    );
}
