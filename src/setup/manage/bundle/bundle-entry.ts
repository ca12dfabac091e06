import { join, resolve, sep } from 'node:path';
import { escapeReferences } from '../../../config/resolve-references.ts';
import type { JsonObject } from '../../../core/json.ts';
import { replaceVariables } from '../../import/dialect.ts';
import type { BundleManifest, BundleSetting } from './bundle-manifest.ts';

interface EntryPlace {
  /** The folder that holds the unpacked bundle. */
  readonly folder: string;
  readonly home: string;
}

/** The values of settings, as texts of our configuration: literal texts are escaped, and secrets are references. */
export type SettingValues = ReadonlyMap<string, readonly string[]>;

/**
 * Creates the configuration entry of a bundle. A `${…}` of the manifest that is not a placeholder of bundles stays literal text: otherwise a
 * bundle could read the variables and secrets of its user.
 */
export function createBundleEntry(
  manifest: BundleManifest,
  place: EntryPlace,
  values: SettingValues,
): JsonObject {
  const { command, args, env, description } = manifest;
  const fill = (text: string): string => fillPlaceholders(text, place, values);
  const filledArgs = args.flatMap((text) => {
    const key = readOnlySetting(text);
    // A setting with several values becomes several arguments, and one without a value none.
    return key === undefined ? [fill(text)] : (values.get(key) ?? []);
  });
  const filledEnv = Object.entries(env).flatMap(([name, text]) => {
    const key = readOnlySetting(text);
    return key !== undefined && !values.has(key) ? [] : [[name, fill(text)] as const];
  });
  return {
    command: fill(command),
    ...(filledArgs.length > 0 && { args: filledArgs }),
    ...(filledEnv.length > 0 && { env: Object.fromEntries(filledEnv) }),
    cwd: escapeReferences(place.folder),
    ...(description !== '' && { description: description.slice(0, 200) }),
  };
}

/** Converts a value that a person gave to the type of the setting. Throws an error with the reason if it does not fit. */
export function readSettingValue(
  { type }: BundleSetting,
  text: string,
  { cwd, home }: { readonly cwd: string; readonly home: string },
): string {
  if (type === 'number' && (text.trim() === '' || !Number.isFinite(Number(text))))
    throw new Error('must be a number');
  if (type === 'boolean') {
    if (/^(?:true|yes|y|1)$/i.test(text)) return 'true';
    if (/^(?:false|no|n|0)$/i.test(text)) return 'false';
    throw new Error('must be true or false');
  }
  if (type !== 'directory' && type !== 'file') return text;
  return resolve(
    cwd,
    text.replace(/^~(?=$|[/\\])/, () => home),
  );
}

/** Returns the default values of a setting, which may refer to folders of the user. */
export function listDefaults({ default: texts = [] }: BundleSetting, place: EntryPlace): readonly string[] {
  return texts.map((text) => fillPlaceholders(text, place, new Map()));
}

/** Returns the key of the setting if the text is nothing but its placeholder. */
function readOnlySetting(text: string): string | undefined {
  return /^\$\{user_config\.([\w.-]+)\}$/.exec(text)?.[1];
}

function fillPlaceholders(text: string, { folder, home }: EntryPlace, values: SettingValues): string {
  const folders: Readonly<Record<string, string>> = {
    __dirname: folder,
    HOME: home,
    DESKTOP: join(home, 'Desktop'),
    DOCUMENTS: join(home, 'Documents'),
    DOWNLOADS: join(home, 'Downloads'),
    pathSeparator: sep,
    '/': sep,
  };
  return replaceVariables(text, (body) => {
    const path = Object.hasOwn(folders, body) ? folders[body] : undefined;
    if (path !== undefined) return { text: escapeReferences(path) };
    const [, key] = /^user_config\.([\w.-]+)$/.exec(body) ?? [];
    return key === undefined ? undefined : { text: (values.get(key) ?? []).join(',') };
  }).text;
}
