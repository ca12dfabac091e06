import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { buildImportEdits, writeSecretFiles } from '../../../setup/import/import-edits.ts';
import type { ServerAddition, MovedSecret, SecretDestination } from '../../../setup/import/import-edits.ts';
import type { ConflictStrategy } from '../../../setup/import/plan-import.ts';
import type { ConfigEdit } from '../../../config/file/edit-config.ts';
import type { AddServersResult, ApplyResult } from '../../../setup/manage/change-results.ts';
import { canonicalJson } from '../../../core/lib/canonical-json.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';
import { formatCount } from '../../../core/lib/format-count.ts';
import { isInteractive } from './terminal-prompt.ts';
import type { TerminalPrompt } from './terminal-prompt.ts';
import type { EditableConfig } from './editable-config.ts';
import { describeSecretPlace, openDraftSecrets } from './secret-access.ts';
import { noteHeldServers } from './held-servers.ts';
import { openServerChanges } from './server-changes.ts';

/** The maximum number of attempts if other processes change the configuration at the same time. */
const MAX_CONFLICT_ATTEMPTS = 12;
/** The maximum random pause before the next attempt. */
const MAX_CONFLICT_DELAY_MS = 40;

interface AddServersOptions {
  /** The value of `--references`. True if the flag has no value. */
  readonly references?: SecretDestination | true | undefined;
  readonly trust: 'first-sight' | 'manual';
  /** Whether a server of the same name is replaced, even if it is in the database instead of the file. */
  readonly replace?: boolean;
}

/** Adds servers to the configuration. Asks where plaintext secrets should be stored, unless `--references` decides it. */
export async function addServers(
  config: EditableConfig,
  servers: readonly ServerAddition[],
  { references, trust, replace = false }: AddServersOptions,
  { context, prompt }: { readonly context: CliContext; readonly prompt: TerminalPrompt | undefined },
): Promise<ApplyResult> {
  const secrets = servers.flatMap(({ name, secrets: own }) => own.map((secret) => ({ name, secret })));
  for (const { name, secret } of secrets)
    context.out.note(`${name}: ${secret.path.join('.')} holds a secret in plain text`);
  const requested = references === true ? 'env' : references;
  const destination =
    secrets.length === 0 ? 'keep' : (requested ?? (await chooseSecretDestination(prompt)) ?? 'keep');
  const { edits, moved } = buildImportEdits(servers, {
    destination,
    configFile: config.file,
    trust,
    existingFiles: await readExistingSecrets(config, { destination, context }),
  });
  await writeSecretFiles(moved);
  await storeSecrets(moved, config, context);
  const applied = await addEntries(config, edits, { context, isPerson: trust === 'first-sight', replace });
  if (secrets.length > 0 && destination === 'keep')
    context.out.note(
      'Secrets stay in the configuration, which only you can read. To move them out, use --references.',
    );
  noteMovedSecrets(moved, context);
  const held = servers.filter(({ isHeld }) => trust === 'manual' || isHeld === true).map(({ name }) => name);
  noteHeldServers(
    held,
    context,
    trust === 'manual'
      ? 'There is no terminal, so the new servers are held for approval ("trust": "manual"). To skip this, use --trust.'
      : `${held.join(', ')} from a project file ${held.length === 1 ? 'is' : 'are'} held for approval ("trust": "manual"). Review with: trunkline approvals\nTo skip this, use --trust.`,
  );
  return applied;
}

/** Adds the servers of a plan that was printed and, at a terminal, confirmed by the user. With `--yes`, asks no further questions. */
export async function addPlannedServers(
  config: EditableConfig,
  servers: readonly ServerAddition[],
  options: {
    readonly yes?: boolean;
    readonly trust?: boolean;
    readonly references?: SecretDestination | true;
    readonly conflicts?: ConflictStrategy;
  },
  { context, prompt }: { readonly context: CliContext; readonly prompt: TerminalPrompt | undefined },
): Promise<{ readonly applied: ApplyResult; readonly trust: AddServersOptions['trust'] }> {
  const { yes, references } = options;
  const trust = isInteractive(context) || options.trust === true ? 'first-sight' : 'manual';
  const replace = options.conflicts === 'replace';
  const applied = await addServers(
    config,
    servers,
    { trust, replace, references },
    { context, prompt: yes === true ? undefined : prompt },
  );
  return { applied, trust };
}

async function addEntries(
  config: EditableConfig,
  edits: readonly ConfigEdit[],
  options: { readonly context: CliContext; readonly isPerson: boolean; readonly replace: boolean },
): Promise<ApplyResult> {
  if (edits.length === 0) {
    // Creates the file, which the user expects to exist afterwards.
    await config.save([]);
    return { state: 'unchanged' };
  }
  const servers = new Map(
    edits.flatMap(({ path: [, name = ''], value }) => (isJsonObject(value) ? [[name, value] as const] : [])),
  );
  // Names that the file contains were rejected earlier, but a shared database may contain them, too.
  const { added, isNewFile } = await retryOnConflict(config, [...servers.keys()], async (current) => {
    const changes = await openServerChanges(current, options);
    const result = await changes.add(Object.fromEntries(servers), options.replace);
    return { added: result, isNewFile: current.document.isNew };
  });
  assertAdded(added);
  if (isNewFile) options.context.out.note(`Created the configuration ${config.file}`);
  return added.applied;
}

/** Repeats a change of these servers after a conflict with another writer. Throws if that writer changed the same servers. */
async function retryOnConflict<T>(
  config: EditableConfig,
  names: readonly string[],
  work: (config: EditableConfig) => Promise<T>,
): Promise<T> {
  let current = config;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(current);
    } catch (error) {
      if (
        !(error instanceof GatewayError) ||
        error.code !== 'REVISION_CONFLICT' ||
        attempt === MAX_CONFLICT_ATTEMPTS
      )
        throw error;
      // The pause is random, because two writers that conflict once would conflict again after equal pauses.
      await delay(Math.random() * MAX_CONFLICT_DELAY_MS);
      const next = await current.reread();
      if (serializeEntries(next, names) !== serializeEntries(config, names)) throw error;
      current = next;
    }
  }
}

function serializeEntries({ document }: EditableConfig, names: readonly string[]): string {
  return canonicalJson(names.map((name) => document.servers.get(name) ?? null));
}

function assertAdded({ results }: AddServersResult): void {
  const refused = results.find(({ result }) => result === 'refused');
  if (refused === undefined) return;
  const rest = results.some(({ result }) => result === 'added') ? ' The others were added.' : '';
  throw new GatewayError('USAGE', `Server "${refused.name}" cannot be added: ${refused.reason}.${rest}`);
}

async function chooseSecretDestination(
  prompt: TerminalPrompt | undefined,
): Promise<SecretDestination | undefined> {
  return prompt?.choose<SecretDestination>('Where should secrets be stored?', [
    { key: 'secret', label: 'in the keychain, or encrypted where there is none (works at once)' },
    { key: 'file', label: 'in files next to the configuration, readable only by you' },
    { key: 'env', label: 'in environment variables, which you set yourself' },
    { key: 'keep', label: 'in the configuration, in plain text' },
  ]);
}

function noteMovedSecrets(moved: readonly MovedSecret[], { out, env }: CliContext): void {
  const files = moved.flatMap(({ file }) => (file === undefined ? [] : [file]));
  const [first] = files;
  if (first !== undefined) out.note(`Moved ${formatCount(files.length, 'secret')} to ${dirname(first)}`);
  const missing = moved.filter(
    ({ destination, variable, value }) => destination === 'env' && env[variable] !== value,
  );
  if (missing.length === 0) return;
  out.note('Set these variables to the secrets in the environment of Trunkline:');
  for (const variable of new Set(missing.map((secret) => secret.variable)))
    out.note(`  export ${variable}=…`);
}

/** Stores the secrets before the references to them are written. */
async function storeSecrets(
  moved: readonly MovedSecret[],
  config: EditableConfig,
  context: CliContext,
): Promise<void> {
  const stored = moved.filter(({ destination }) => destination === 'secret');
  if (stored.length === 0) return;
  await using secrets = await openDraftSecrets(config, context);
  for (const { variable, value } of stored) {
    const { place } = await secrets.write(variable, value);
    context.out.note(`Stored ${variable} in ${describeSecretPlace(place)}`);
  }
}

/** Returns the secrets that exist at the destination, so that none is overwritten. */
async function readExistingSecrets(
  config: EditableConfig,
  options: { readonly destination: SecretDestination; readonly context: CliContext },
): Promise<ReadonlyMap<string, string>> {
  if (options.destination === 'file') return readSecretFiles(config.file);
  if (options.destination !== 'secret') return new Map();
  await using secrets = await openDraftSecrets(config, options.context);
  // The stored values are not read. An empty text equals no new secret, so every stored name counts as taken.
  return new Map((await secrets.list()).map(({ name }) => [name, '']));
}

/** Reads the existing secret files, so that none is overwritten. */
async function readSecretFiles(configFile: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(dirname(configFile), 'secrets');
  const names = await readdir(folder).catch(() => []);
  const files = names.slice(0, 1000).map(async (name) => {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    return [name, text] as const;
  });
  return new Map(await Promise.all(files));
}
