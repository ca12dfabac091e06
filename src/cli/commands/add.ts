import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { findEntryProblem } from '../../config/read-server-entry.ts';
import { escapeReferences } from '../../config/resolve-references.ts';
import { findPlaintextSecrets } from '../../setup/import/plaintext-secrets.ts';
import type { ServerAddition } from '../../setup/import/import-edits.ts';
import { planImport } from '../../setup/import/plan-import.ts';
import type { ApplyResult } from '../../setup/manage/change-results.ts';
import { removeBundles } from '../../setup/manage/bundle/bundle-archive.ts';
import { quoteShellWord } from '../../core/lib/quote-shell-word.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CliContext } from '../context.ts';
import { applyAddFlags } from './setup/add/add-flags.ts';
import type { AddOptions } from './setup/add/add-flags.ts';
import { readNewServers } from './setup/add/read-new-servers.ts';
import type { NewServer, NewServers } from './setup/add/read-new-servers.ts';
import { finishScope, openScopedConfig } from './setup/add/scoped-config.ts';
import { isInteractive, openTerminalPrompt } from './setup/terminal-prompt.ts';
import type { EditableConfig } from './setup/editable-config.ts';
import { getOwnIdentity } from './setup/find-importable-servers.ts';
import { addServers } from './setup/add-servers.ts';
import { noteRemarks, printImportPlan } from './setup/print-import-plan.ts';
import { describeStorage, noteApplied } from './setup/server-changes.ts';
import { resolveStartFolder } from './setup/start-folder.ts';
import { checkNewEntry, notePreflightProblem, tryServer } from './setup/try-server.ts';

interface AddContext {
  readonly options: AddOptions;
  readonly config: EditableConfig;
  readonly context: CliContext;
}

/** A server with its final entry. */
type ReadyServer = NewServer & { readonly entry: JsonObject };

/** Adds servers to the configuration. At a terminal, connects to them at once; the exit code then reports the result. */
export async function runAdd(
  options: AddOptions,
  context: CliContext,
  words: readonly string[],
): Promise<ExitCode> {
  const config = await openScopedConfig(options, context);
  const scope = { options, config, context };
  const given = await readNewServers(words, scope);
  const servers =
    given.origin === undefined
      ? await Promise.all(given.servers.map((server) => completeServer(server, scope)))
      : await confirmServers(given, given.origin, scope);
  if (servers.length === 0) return 0;
  const applied = await saveServers(servers, scope);
  await reportAdded(servers, applied, scope);
  if (!isInteractive(context)) return 0;
  let exit: ExitCode = 0;
  const at = options.scope === undefined ? options.config : config.file;
  for (const { name } of servers) {
    const result = await tryServer(name, { ...options, config: at }, context);
    if (exit === 0) exit = result;
  }
  return exit;
}

/** Completes a server that the user typed. Throws if it cannot be added. */
async function completeServer(server: NewServer, scope: AddContext): Promise<ReadyServer> {
  const { options, config, context } = scope;
  const { name } = server;
  const flagged = applyAddFlags(server.entry ?? {}, options, context);
  const { entry, notes } = await setStartFolder(flagged, server, scope);
  const invalid = findEntryProblem(name, entry, config.file);
  if (invalid !== undefined) throw new GatewayError('USAGE', `Server "${name}" cannot be added: ${invalid}.`);
  if (config.document.servers.has(name) && options.replace !== true) throw takenError(name, config);
  return { ...server, entry, notes };
}

function takenError(name: string, { file }: EditableConfig): GatewayError {
  return new GatewayError(
    'USAGE',
    `${file} already has a server "${name}". Choose another name, or add --replace.`,
  );
}

/** Adds the `cwd` that relative paths in the command need, and a note about it. Asks for the folder of a command-line program. */
async function setStartFolder(
  entry: JsonObject,
  { notes = [], words }: NewServer,
  { options, config, context }: AddContext,
): Promise<{ readonly entry: JsonObject; readonly notes: readonly string[] }> {
  const { cwd, platform } = context;
  if (words === undefined || entry['cwd'] !== undefined) return { entry, notes };
  const folder = resolveStartFolder(words, { cwd, platform, file: config.file });
  if (folder !== undefined) {
    const note = `The server will be started in ${cwd}, because ${quoteShellWord(folder.word)} is there. Its entry has this folder as "cwd".`;
    return { entry: { ...entry, cwd: folder.cwd }, notes: [...notes, note] };
  }
  using prompt = options.yes === true || entry['cli'] === undefined ? undefined : openTerminalPrompt(context);
  if (prompt === undefined) return { entry, notes };
  for (;;) {
    const answer = await prompt.text(`In which folder should ${words[0]} run? [Enter for ${cwd}]`);
    const path = resolve(
      cwd,
      answer.replace(/^~(?=$|[/\\])/, () => context.home),
    );
    const found = await stat(path).catch(() => undefined);
    if (found?.isDirectory() === true) return { entry: { ...entry, cwd: escapeReferences(path) }, notes };
    context.out.note(`${path} is not a folder.`);
  }
}

/** Shows servers that the user did not type, as `import` does, and asks. Returns those that are new; none if all exist already. */
async function confirmServers(
  { servers }: NewServers,
  origin: string,
  { options, config, context }: AddContext,
): Promise<readonly ReadyServer[]> {
  const { out } = context;
  const source = { id: 'add', title: origin, files: () => [], read: () => [] };
  const { env: _, ...bundleOptions } = options;
  // The variables of --env are already in the entry of a bundle.
  const flags = servers.some(({ folder }) => folder !== undefined) ? bundleOptions : options;
  const flagged = servers.map((server) =>
    server.entry === undefined ? server : { ...server, entry: applyAddFlags(server.entry, flags, context) },
  );
  const isReplaced = (name: string): boolean =>
    options.replace === true && servers.some((server) => server.name === name);
  const steps = planImport([{ source, path: config.file, scope: 'user', servers: flagged }], {
    servers: new Map([...config.document.servers].filter(([name]) => !isReplaced(name))),
    identity: getOwnIdentity(context, config.document.text),
    onConflict: 'keep',
    configFile: config.file,
  });
  if (out.style.format === 'text') printImportPlan(steps, context);
  noteRemarks(steps, context);
  const added = steps.flatMap(({ state, name, entry }) => {
    const server = flagged.find((each) => each.name === name);
    return state === 'new' && entry !== undefined && server !== undefined ? [{ ...server, entry }] : [];
  });
  if (added.length === 0) {
    const refused = steps.find(({ state }) => state !== 'same');
    if (refused?.state === 'conflicting') throw takenError(refused.name, config);
    if (refused !== undefined)
      throw new GatewayError('USAGE', `Server "${refused.name}" cannot be added: ${refused.reason}.`);
    out.note('There are no new servers.');
    return [];
  }
  using prompt = options.yes === true ? undefined : openTerminalPrompt(context);
  const names = added.map(({ name }) => name).join(', ');
  if (prompt === undefined || (await prompt.confirm(`Add ${names} to ${config.file}?`))) return added;
  out.note('Nothing was added.');
  return [];
}

/** Prepares and writes the servers. */
async function saveServers(servers: readonly ReadyServer[], scope: AddContext): Promise<ApplyResult> {
  const { options, config, context } = scope;
  const { references, replace = false } = options;
  const trust = readTrust(scope);
  const additions = servers.map(({ name, entry }): ServerAddition => {
    return { name, entry, secrets: findPlaintextSecrets(name, entry) };
  });
  try {
    for (const { prepare } of servers) await prepare?.();
    using prompt = options.yes === true ? undefined : openTerminalPrompt(context);
    const applied = await addServers(config, additions, { trust, replace, references }, { context, prompt });
    if (replace) await removeReplacedBundles(servers, config);
    return applied;
  } catch (error) {
    for (const { discard } of servers) await discard?.();
    throw error;
  }
}

function readTrust({ options, context }: AddContext): 'first-sight' | 'manual' {
  return isInteractive(context) || options.trust === true ? 'first-sight' : 'manual';
}

/** Deletes the bundles that the replaced entries used. */
async function removeReplacedBundles(
  servers: readonly ReadyServer[],
  { stateDir }: EditableConfig,
): Promise<void> {
  for (const { name, folder } of servers) await removeBundles(stateDir, name, folder);
}

async function reportAdded(
  servers: readonly ReadyServer[],
  applied: ApplyResult,
  scope: AddContext,
): Promise<void> {
  const { options, config, context } = scope;
  const { out } = context;
  const { place, ...storage } = describeStorage(config.file, applied);
  const names = servers.map(({ name }) => name);
  // At a terminal, tryServer connects to the servers instead.
  const problems = isInteractive(context)
    ? []
    : await Promise.all(servers.map((server) => checkServer(server, scope)));
  const [problem] = problems.flatMap((each) => each ?? []);
  if (out.style.format === 'json')
    out.json({
      added: names.length === 1 ? names[0] : names,
      config: config.file,
      ...storage,
      trust: readTrust(scope),
      problem: problem && { code: problem.code, message: problem.message },
    });
  else if (applied.state === 'unchanged') out.line(`${names.join(', ')} is already in ${place}`);
  else out.line(`Added ${names.join(', ')} to ${place}`);
  for (const note of servers.flatMap((server) => server.notes ?? [])) out.note(note);
  noteApplied(applied, config, context);
  await finishScope(options, config, context);
  servers.forEach(({ name }, at) => {
    const found = problems[at];
    if (found !== undefined) notePreflightProblem(name, found, context);
  });
}

function checkServer({ name, entry }: ReadyServer, { config, context }: AddContext) {
  return checkNewEntry(name, entry, { config, context });
}
