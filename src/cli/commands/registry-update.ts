import type { ConfigEdit } from '../../config/file/edit-config.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RegistryClient } from '../../setup/registry/registry-client.ts';
import { createRegistryEntry } from '../../setup/registry/registry-entry.ts';
import { planEntryUpdate } from '../../setup/registry/plan-entry-update.ts';
import type { EntryUpdate } from '../../setup/registry/plan-entry-update.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { toOneLine } from '../sanitize.ts';
import { formatCount } from '../../core/lib/format-count.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { openTerminalPrompt, noTerminalError, isInteractive } from './setup/terminal-prompt.ts';
import { openEditableConfig, getServerEntry, reloadRunningGateway } from './setup/editable-config.ts';
import type { EditableConfig } from './setup/editable-config.ts';
import { openRegistry } from './setup/confirm-registry-entry.ts';

interface RegistryUpdateOptions extends GlobalOptions {
  readonly registry?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** A configured server, compared with its newest version in the registry. */
interface UpdateCheck {
  readonly server: string;
  readonly registry: string;
  readonly state: 'current' | 'outdated' | 'unusable';
  readonly version?: string | undefined;
  readonly newest?: string | undefined;
  readonly reason?: string | undefined;
  /** New variables that must be set. */
  readonly needs?: readonly string[] | undefined;
  /** The command or URL before and after the update. */
  readonly reached?: EntryUpdate['target'] | undefined;
  /** Settings that are removed, because they were meant for another host. */
  readonly dropped?: readonly string[] | undefined;
  /** Whether the server is held for approval after the update. */
  readonly held?: boolean | undefined;
  readonly changes?: JsonObject | undefined;
}

/** Updates servers that came from the registry to their newest versions. */
export async function runRegistryUpdate(
  options: RegistryUpdateOptions,
  context: CliContext,
  names: readonly string[],
): Promise<ExitCode> {
  const { out } = context;
  const config = await openEditableConfig(options.config, context);
  const selected = selectServers(config, names);
  const registry = openRegistry(options, context);
  const checks = await out.withProgress('Checking the registry', () =>
    Promise.all(selected.map((server) => checkUpdate(server, registry, isInteractive(context)))),
  );
  const outdated = checks.filter(({ state }) => state === 'outdated');
  const isJson = out.style.format === 'json';
  const printJson = (applied: boolean): void => {
    if (isJson)
      out.json({
        config: config.file,
        applied,
        servers: checks.map(({ changes: _changes, ...rest }) => rest),
      });
  };
  if (!isJson) printChecks(checks, context);
  if (
    outdated.length === 0 ||
    options.dryRun === true ||
    !(await confirmUpdate(outdated, options, context))
  ) {
    printJson(false);
    return 0;
  }
  await config.save(outdated.flatMap(toEdits));
  printJson(true);
  if (!isJson) out.line(`Updated ${formatCount(outdated.length, 'server')} in ${config.file}`);
  noteNewVariables(outdated, context);
  await reloadRunningGateway(config, context);
  return 0;
}

interface ServerFromRegistry {
  readonly server: string;
  readonly registry: string;
  readonly entry: JsonObject;
}

function selectServers(config: EditableConfig, names: readonly string[]): readonly ServerFromRegistry[] {
  const requested = names.length === 0 ? [...config.document.servers.keys()] : names;
  const found = requested.flatMap((server) => {
    const entry = getServerEntry(config, server);
    const registry = isJsonObject(entry) ? entry['registry'] : undefined;
    return isJsonObject(entry) && typeof registry === 'string' ? [{ server, registry, entry }] : [];
  });
  const missing = requested.find((server) => !found.some((each) => each.server === server));
  if (names.length === 0 || missing === undefined) return found;
  throw new GatewayError(
    'USAGE',
    `Server "${missing}" has no "registry" in its entry, so its version in the registry is unknown. Set "registry": "NAME" with trunkline edit ${quoteShellWord(missing)}, or replace it with: trunkline add ${quoteShellWord(missing)} --from-registry NAME --replace`,
  );
}

async function checkUpdate(
  { server, registry: name, entry }: ServerFromRegistry,
  registry: RegistryClient,
  isPerson: boolean,
): Promise<UpdateCheck> {
  const about = { server, registry: name };
  try {
    const found = await registry.server(name);
    const registryEntry = createRegistryEntry(found);
    const update = 'problem' in registryEntry ? registryEntry : planEntryUpdate(entry, registryEntry);
    if ('problem' in update) return { ...about, state: 'unusable', reason: update.problem };
    const { changes, version, added, isKindChanged: isOtherKind, target: reached, dropped } = update;
    const isSame = Object.keys(changes).length === 0;
    // Without a terminal, no user has seen that the command or host changes.
    const held = !isPerson && (isOtherKind || isOtherAddress(reached));
    const kind = entry['command'] === undefined ? 'a server at a URL' : 'a program';
    return {
      ...about,
      version,
      newest: found.version,
      state: isSame ? 'current' : 'outdated',
      changes: isSame ? undefined : held ? { ...changes, trust: 'manual' } : changes,
      reached,
      dropped,
      held: held ? true : undefined,
      reason: isOtherKind ? `it is no longer ${kind}; settings for that are removed` : undefined,
      needs: added.length > 0 ? added : undefined,
    };
  } catch (error) {
    // A server that was removed from the registry does not stop the others. A failing registry does.
    if (!(error instanceof GatewayError) || error.code !== 'ENTRY_NOT_FOUND') throw error;
    return { ...about, state: 'unusable', reason: 'the registry no longer has it' };
  }
}

/** Whether the update changes the URL of the server. A new version of a package is not held, because the user asked for it. */
function isOtherAddress(reached: UpdateCheck['reached']): boolean {
  return reached !== undefined && URL.canParse(reached.to);
}

async function confirmUpdate(
  outdated: readonly UpdateCheck[],
  { yes }: RegistryUpdateOptions,
  context: CliContext,
): Promise<boolean> {
  if (yes === true) return true;
  const count = formatCount(outdated.length, 'server');
  using prompt = openTerminalPrompt(context);
  if (prompt === undefined)
    throw noTerminalError(
      `${count} would be updated.`,
      'Add --yes to update them, or --dry-run to see the changes',
    );
  const isAgreed = await prompt.confirm(`Update ${count}?`);
  if (!isAgreed) context.out.note('Nothing was changed.');
  return isAgreed;
}

function toEdits({ server, changes = {} }: UpdateCheck): readonly ConfigEdit[] {
  return Object.entries(changes).map(([key, value]) => ({ path: ['mcpServers', server, key], value }));
}

function printChecks(checks: readonly UpdateCheck[], { out }: CliContext): void {
  if (checks.length === 0) {
    out.prose('No configured server comes from the registry. Find one with: trunkline registry search TEXT');
    return;
  }
  const { bold, dim, green, yellow, red } = out.paint;
  const paints = { current: green, outdated: yellow, unusable: red };
  const head = ['server', 'state', 'version', ''].map((text) => ({ text, paint: dim }));
  const rows = checks.map(({ server, state, version, newest, registry, reason }) => [
    { text: server, paint: bold },
    { text: state, paint: paints[state] },
    toOneLine(
      [version, newest === version ? undefined : newest].filter((each) => each !== undefined).join(' → '),
    ),
    toOneLine(reason, registry),
  ]);
  out.table([head, ...rows]);
  for (const { server, reached, dropped, held } of checks) {
    if (reached !== undefined)
      out.line(`${toOneLine(server)}: ${toOneLine(reached.from)} → ${toOneLine(reached.to)}`);
    if (dropped !== undefined)
      out.line(
        yellow(
          `${server}: ${toOneLine(dropped.join(', '))} ${dropped.length === 1 ? 'was' : 'were'} meant for the old host and will be removed. Set the values that the new host may receive with: trunkline edit ${quoteShellWord(server)}`,
        ),
      );
    if (held === true)
      out.line(
        yellow(
          `${server}: will be held for approval, because there is no terminal. Accept it with: trunkline approvals accept ${quoteShellWord(server)}`,
        ),
      );
  }
}

function noteNewVariables(outdated: readonly UpdateCheck[], { out }: CliContext): void {
  const needs = outdated.filter(({ needs: names }) => names !== undefined);
  for (const { server, needs: names = [], changes = {} } of needs) {
    const isWritten = [changes['env'], changes['headers']].some(
      (filled) => isJsonObject(filled) && names.some((name) => Object.hasOwn(filled, name)),
    );
    const pronoun = names.length === 1 ? 'it' : 'them';
    // References for new variables are not written if the host changes, so the user must set them in the entry.
    const advice = isWritten
      ? `Set ${pronoun} in the environment of Trunkline.`
      : `Set ${pronoun} with: trunkline edit ${quoteShellWord(server)}`;
    out.note(`${server} now needs ${names.join(', ')}. ${advice}`);
  }
}
