import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { additions, writeSecrets } from '../../../import/apply-plan.ts';
import type { Addition, MovedSecret, SecretPlace } from '../../../import/apply-plan.ts';
import type { OnConflict } from '../../../import/plan.ts';
import type { ConfigEdit } from '../../../config/file/edit.ts';
import type { AddedServers, Applied } from '../../../manage/change-results.ts';
import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';
import { counted } from '../listing.ts';
import { isTerminal } from './ask.ts';
import type { Ask } from './ask.ts';
import type { ConfigChange } from './config-change.ts';
import { tellHeld } from './held-servers.ts';
import { inTurn } from './in-turn.ts';
import { serverVerbs } from './server-verbs.ts';

interface SecretOptions {
  /** Of `--references`; true without a word behind it. */
  readonly references?: SecretPlace | true;
  readonly trust: 'first-sight' | 'manual';
  /** Whether a server of the same name is replaced, also one that is not in the file. */
  readonly replace?: boolean;
}

/** Adds servers to the configuration; asks what becomes of secrets in plain text where it was not said. */
export async function addServers(
  change: ConfigChange,
  servers: readonly Addition[],
  { references, trust, replace = false }: SecretOptions,
  { context, ask }: { readonly context: CliContext; readonly ask: Ask | undefined },
): Promise<Applied> {
  const secrets = servers.flatMap(({ name, secrets: own }) => own.map((secret) => ({ name, secret })));
  for (const { name, secret } of secrets)
    context.out.note(`${name}: ${secret.path.join('.')} holds a secret in plain text`);
  const said = references === true ? 'env' : references;
  const place = secrets.length === 0 ? 'keep' : (said ?? (await chosenPlace(ask)) ?? 'keep');
  const { edits, moved } = additions(servers, {
    place,
    configFile: change.file,
    trust,
    known: place === 'file' ? await secretFiles(change.file) : new Map(),
  });
  await writeSecrets(moved);
  const applied = await addEntries(change, edits, { context, isPerson: trust === 'first-sight', replace });
  if (secrets.length > 0 && place === 'keep')
    context.out.note('It stays in the configuration, which only you can read; --references moves it out.');
  tellMoved(moved, context);
  if (trust === 'manual')
    tellHeld(
      servers.map(({ name }) => name),
      context,
      'Nobody sits at a terminal, so what was added waits for a person ("trust": "manual"); --trust would not wait.',
    );
  return applied;
}

/** The same for a plan that was shown: whoever sits at a terminal has agreed to it, and with `--yes` nothing more is asked. */
export async function addPlanned(
  change: ConfigChange,
  servers: readonly Addition[],
  options: {
    readonly yes?: boolean;
    readonly trust?: boolean;
    readonly references?: SecretPlace | true;
    readonly conflicts?: OnConflict;
  },
  { context, ask }: { readonly context: CliContext; readonly ask: Ask | undefined },
): Promise<{ readonly applied: Applied; readonly trust: SecretOptions['trust'] }> {
  const { yes, references } = options;
  const trust = isTerminal(context) || options.trust === true ? 'first-sight' : 'manual';
  const replace = options.conflicts === 'replace';
  const more = { trust, replace, ...(references !== undefined && { references }) } as const;
  const applied = await addServers(change, servers, more, { context, ask: yes === true ? undefined : ask });
  return { applied, trust };
}

async function addEntries(
  change: ConfigChange,
  edits: readonly ConfigEdit[],
  options: { readonly context: CliContext; readonly isPerson: boolean; readonly replace: boolean },
): Promise<Applied> {
  if (edits.length === 0) {
    // There is a file to look at afterwards, whatever was chosen.
    await change.save([]);
    return { state: 'unchanged' };
  }
  const servers = new Map(
    edits.flatMap(({ path: [, name = ''], value }) => (isJsonObject(value) ? [[name, value] as const] : [])),
  );
  // Whether a name is taken in the file was found out before; it may be in the database of several gateways.
  const { added, isFirst } = await inTurn(change, [...servers.keys()], async (current) => {
    const verbs = await serverVerbs(current, options);
    const result = await verbs.add(Object.fromEntries(servers), options.replace);
    return { added: result, isFirst: current.document.isNew };
  });
  refuseUnlessAdded(added);
  if (isFirst) options.context.out.note(`Wrote a first configuration to ${change.file}`);
  return added.applied;
}

function refuseUnlessAdded({ results }: AddedServers): void {
  const [wrong] = results.filter(({ result }) => result === 'refused');
  if (wrong === undefined) return;
  const rest = results.some(({ result }) => result === 'added') ? ' The others were added.' : '';
  throw new GatewayError('USAGE', `Server "${wrong.name}" cannot be added: ${wrong.reason}.${rest}`);
}

async function chosenPlace(ask: Ask | undefined): Promise<SecretPlace | undefined> {
  return ask?.choose<SecretPlace>('Where shall secrets be kept?', [
    { key: 'file', label: 'in files next to the configuration that only you can read (works at once)' },
    { key: 'env', label: 'in environment variables that you set yourself' },
    { key: 'keep', label: 'in the configuration, as they are' },
  ]);
}

function tellMoved(moved: readonly MovedSecret[], { out, env }: CliContext): void {
  const files = moved.flatMap(({ file }) => (file === undefined ? [] : [file]));
  const [first] = files;
  if (first !== undefined) out.note(`${counted(files.length, 'secret')} moved to ${dirname(first)}`);
  const missing = moved.filter(({ file, variable, value }) => file === undefined && env[variable] !== value);
  if (missing.length === 0) return;
  out.note('Set these where Trunkline is started, to what they were:');
  for (const variable of new Set(missing.map((each) => each.variable))) out.note(`  export ${variable}=…`);
}

/** What is kept in files already, so that nothing of it is overwritten. */
async function secretFiles(configFile: string): Promise<ReadonlyMap<string, string>> {
  const folder = join(dirname(configFile), 'secrets');
  const names = await readdir(folder).catch(() => []);
  const files = names.slice(0, 1000).map(async (name) => {
    const text = await readFile(join(folder, name), 'utf8').catch(() => '');
    return [name, text] as const;
  });
  return new Map(await Promise.all(files));
}
