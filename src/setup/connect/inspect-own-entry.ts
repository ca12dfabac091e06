import { existsSync } from 'node:fs';
import { resolveLocations } from '../../config/find-config.ts';
import type { JsonObject } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import { pathModuleFor } from '../import/client-paths.ts';
import { isNonEmptyString, toStrings } from '../import/entry-reader.ts';
import type { ClientEnvironment } from '../import/import-source.ts';

/** Why a client's entry for Trunkline does not start the program or the configuration that it should. */
export type EntryFault =
  | { readonly kind: 'missing-program'; readonly path: string }
  | { readonly kind: 'other-config'; readonly path: string };

/**
 * Inspects an entry that starts Trunkline. Only what the entry itself says is checked: an entry without a path or a configuration depends
 * on the environment of the client, which is not known.
 */
export function inspectOwnEntry(
  entry: JsonObject,
  { configFile, environment }: { readonly configFile: string; readonly environment: ClientEnvironment },
): EntryFault | undefined {
  const { command } = entry;
  if (!isNonEmptyString(command)) return undefined;
  const isAbsolute = (path: string): boolean => pathModuleFor(environment).isAbsolute(path);
  const words = [command, ...toStrings(entry['args'])];
  const commandAt = words.findIndex((word) => /^(?:serve|wrap)$/.test(word));
  const program = commandAt < 0 ? words : words.slice(0, commandAt);
  const missing = program.find((word) => isAbsolute(word) && !existsSync(word));
  if (missing !== undefined) return { kind: 'missing-program', path: missing };
  const named = readNamedConfig(entry, words, environment);
  return named === undefined || !isAbsolute(named) || named === configFile
    ? undefined
    : { kind: 'other-config', path: named };
}

/** Returns the configuration that an entry names, through an option or a variable. */
function readNamedConfig(
  { env }: JsonObject,
  words: readonly string[],
  { platform, home }: ClientEnvironment,
): string | undefined {
  const at = words.indexOf('--config');
  const option = at < 0 ? words.find((word) => word.startsWith('--config='))?.slice(9) : words[at + 1];
  const variables = isJsonObject(env) ? env : {};
  const { TRUNKLINE_CONFIG: config, TRUNKLINE_HOME: ownHome } = variables;
  const named = option ?? (isNonEmptyString(config) ? config : undefined);
  if (named !== undefined) return named;
  if (
    !isNonEmptyString(ownHome) ||
    ownHome.includes('${') ||
    !pathModuleFor({ platform }).isAbsolute(ownHome)
  )
    return undefined;
  return resolveLocations({ env: { TRUNKLINE_HOME: ownHome }, platform, home }).configFile;
}
