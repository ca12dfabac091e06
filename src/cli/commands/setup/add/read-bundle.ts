import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { escapeReferences } from '../../../../config/resolve-references.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { toVariableName } from '../../../../setup/import/dialect.ts';
import {
  getBundleFolder,
  MAX_ARCHIVE_BYTES,
  readBundleArchive,
  removeBundles,
  unpackBundle,
} from '../../../../setup/manage/bundle/bundle-archive.ts';
import type { BundleArchive } from '../../../../setup/manage/bundle/bundle-archive.ts';
import {
  createBundleEntry,
  listDefaults,
  readSettingValue,
} from '../../../../setup/manage/bundle/bundle-entry.ts';
import type { BundleManifest, BundleSetting } from '../../../../setup/manage/bundle/bundle-manifest.ts';
import type { CliContext } from '../../../context.ts';
import { toOneLine } from '../../../sanitize.ts';
import type { EditableConfig } from '../editable-config.ts';
import { describeSecretPlace, openDraftSecrets } from '../secret-access.ts';
import { openTerminalPrompt } from '../terminal-prompt.ts';
import type { TerminalPrompt } from '../terminal-prompt.ts';
import { parsePairs } from './add-flags.ts';
import type { AddOptions } from './add-flags.ts';
import { fileError } from './read-new-servers.ts';
import type { NewServer } from './read-new-servers.ts';

interface BundleScope {
  readonly options: AddOptions;
  readonly config: EditableConfig;
  readonly context: CliContext;
}

/** Reads a bundle and the values that it asks for. Nothing is written before the server is prepared. */
export async function readBundle(
  givenName: string | undefined,
  word: string,
  { options, config, context }: BundleScope,
): Promise<NewServer> {
  const path = resolve(context.cwd, word);
  const archive = await readArchive(path, context);
  const { manifest } = archive;
  const { out, home } = context;
  const author = manifest.author === '' ? '' : ` by ${toOneLine(manifest.author)}`;
  out.note(`${toOneLine(manifest.title)} ${toOneLine(manifest.version)}${author}`);
  if (manifest.description !== '') out.note(toOneLine(manifest.description));
  const name = givenName ?? toServerName(manifest.name);
  const folder = getBundleFolder(config.stateDir, name, manifest.version);
  const collector = new SettingCollector(name, manifest, { folder, options, config, context });
  using prompt = options.yes === true ? undefined : openTerminalPrompt(context);
  await collector.collect(prompt);
  const { values, secrets, env } = collector;
  const entry = createBundleEntry(manifest, { folder, home }, values);
  const ownEnv = entry['env'] as Readonly<Record<string, string>> | undefined; // createBundleEntry writes only texts.
  return {
    name,
    entry: Object.keys(env).length === 0 ? entry : { ...entry, env: { ...ownEnv, ...env } },
    remarks: [],
    folder,
    notes: collector.notes,
    prepare: async () => {
      await unpackBundle(archive, folder).catch((error: unknown) => {
        throw fileError(path, error);
      });
      await storeSecrets(secrets, config, context);
    },
    discard: async () => {
      // An existing server of this name may use the folder.
      if (!config.document.servers.has(name)) await removeBundles(config.stateDir, name);
    },
  };
}

async function readArchive(path: string, { platform }: CliContext): Promise<BundleArchive> {
  try {
    if ((await stat(path)).size > MAX_ARCHIVE_BYTES)
      throw new Error(`it is larger than ${MAX_ARCHIVE_BYTES / 2 ** 20} MB`);
    return readBundleArchive(await readFile(path), platform);
  } catch (error) {
    throw fileError(path, error);
  }
}

/** Returns a name for the server of a bundle, without characters that need quotes in a shell. */
function toServerName(name: string): string {
  const plain = name.replaceAll(/[^\w.-]+/g, '-').replaceAll(/^[-.]+|-+$/g, '');
  return plain === '' ? 'bundle' : plain.slice(0, 50);
}

async function storeSecrets(
  secrets: ReadonlyMap<string, string>,
  config: EditableConfig,
  context: CliContext,
): Promise<void> {
  if (secrets.size === 0) return;
  await using store = await openDraftSecrets(config, context);
  for (const [name, value] of secrets) {
    const { place } = await store.write(name, value);
    context.out.note(`Stored ${name} in ${describeSecretPlace(place)}`);
  }
}

/** Collects the values of a bundle's settings from `--set`, `--env`, the user and the defaults. */
class SettingCollector {
  readonly values = new Map<string, readonly string[]>();
  /** The secrets to store by name. */
  readonly secrets = new Map<string, string>();
  /** The variables of `--env` that are not settings. */
  readonly env: Record<string, string> = {};
  readonly notes: string[] = [];
  readonly #server: string;
  readonly #manifest: BundleManifest;
  readonly #scope: BundleScope & { readonly folder: string };
  readonly #given = new Map<string, readonly string[]>();

  constructor(server: string, manifest: BundleManifest, scope: BundleScope & { readonly folder: string }) {
    this.#server = server;
    this.#manifest = manifest;
    this.#scope = scope;
    this.#readFlags();
  }

  async collect(prompt: TerminalPrompt | undefined): Promise<void> {
    const taken = await this.#listStoredSecrets();
    const missing: string[] = [];
    for (const setting of this.#manifest.settings) {
      const { key, isSensitive, isRequired } = setting;
      const texts = this.#given.get(key) ?? (await this.#ask(setting, prompt));
      if (isSensitive) this.#addSecret(setting, texts?.[0], taken);
      else if (texts !== undefined) this.values.set(key, texts.map(escapeReferences));
      else {
        const defaults = listDefaults(setting, { ...this.#scope, home: this.#scope.context.home });
        if (defaults.length > 0) this.values.set(key, defaults);
        else if (isRequired) missing.push(key);
      }
    }
    if (missing.length === 0) return;
    throw new GatewayError(
      'USAGE',
      `The bundle needs ${missing.join(', ')}. Add ${missing.map((key) => `--set ${key}=VALUE`).join(' ')}`,
    );
  }

  /** `--env` also sets a setting, by its key or by the variable that the bundle passes it in. */
  #readFlags(): void {
    const { options } = this.#scope;
    const { settings, env } = this.#manifest;
    const keys = new Set(settings.map(({ key }) => key));
    for (const pair of options.set ?? []) {
      const [[key, text] = ['', '']] = Object.entries(parsePairs([pair], '--set') ?? {});
      if (!keys.has(key))
        throw new GatewayError(
          'USAGE',
          `The bundle has no setting "${key.slice(0, 100)}". ${keys.size === 0 ? 'Remove --set.' : `It has: ${[...keys].join(', ')}`}`,
        );
      this.#give(key, text);
    }
    for (const [name, text] of Object.entries(parsePairs(options.env, '--env') ?? {})) {
      const [, fromVariable = name] = /^\$\{user_config\.([\w.-]+)\}$/.exec(env[name] ?? '') ?? [];
      if (keys.has(fromVariable)) this.#give(fromVariable, text);
      else this.env[name] = text;
    }
  }

  #give(key: string, text: string): void {
    const setting = this.#manifest.settings.find((each) => each.key === key);
    if (setting === undefined) return;
    const earlier = setting.isMultiple ? (this.#given.get(key) ?? []) : [];
    this.#given.set(key, [...earlier, this.#convert(setting, text)]);
  }

  #convert(setting: BundleSetting, text: string): string {
    try {
      return readSettingValue(setting, text, this.#scope.context);
    } catch (error) {
      throw new GatewayError(
        'USAGE',
        `The setting "${setting.key}" ${error instanceof Error ? error.message : String(error)}.`,
        { cause: error },
      );
    }
  }

  /** Returns undefined if nobody can be asked, or if the answer is empty. */
  async #ask(
    setting: BundleSetting,
    prompt: TerminalPrompt | undefined,
  ): Promise<readonly string[] | undefined> {
    const { title, description, isSensitive, isRequired, isMultiple } = setting;
    const [preset] = setting.default ?? [];
    if (prompt === undefined) return undefined;
    const hint = toOneLine(description) === '' ? '' : ` (${toOneLine(description)})`;
    const skip = preset === undefined ? 'Enter to skip' : `Enter for ${toOneLine(preset)}`;
    const several = isMultiple ? ', separate several with commas' : '';
    for (;;) {
      const answer = isSensitive
        ? await prompt.secret(`${toOneLine(title)}${hint}? It is not shown. [Enter to skip]`)
        : await prompt.text(
            `${toOneLine(title)}${hint}? [${isRequired && preset === undefined ? 'required' : skip}${several}]`,
          );
      if (answer === '' && (isSensitive || !isRequired || preset !== undefined)) return undefined;
      if (answer === '') continue;
      try {
        return (isMultiple ? answer.split(/\s*,\s*/) : [answer]).map((text) => this.#convert(setting, text));
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        this.#scope.context.out.note(error.message);
      }
    }
  }

  /** Refers to a stored secret. Without a value, it must be stored later. */
  #addSecret(
    { key, isRequired }: BundleSetting,
    value: string | undefined,
    taken: ReadonlySet<string>,
  ): void {
    if (value === undefined && !isRequired) return;
    const base = toVariableName(this.#server, key);
    let name = base;
    // With --replace, the earlier secret of this server keeps its name.
    for (let count = 2; taken.has(name) && this.#scope.options.replace !== true; count++)
      name = `${base}_${count}`;
    this.values.set(key, [`\${secret:${name}}`]);
    if (value !== undefined) this.secrets.set(name, value);
    else if (!taken.has(name))
      this.notes.push(`Store the value of "${key}" with: trunkline secret set ${name}`);
  }

  async #listStoredSecrets(): Promise<ReadonlySet<string>> {
    const { config, context } = this.#scope;
    if (!this.#manifest.settings.some(({ isSensitive }) => isSensitive)) return new Set();
    await using store = await openDraftSecrets(config, context);
    return new Set((await store.list()).map(({ name }) => name));
  }
}
