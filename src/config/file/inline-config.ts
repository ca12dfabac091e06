import { basename, join } from 'node:path';

/** The environment variable that may hold a whole configuration, for containers and CI jobs without a file. */
export const INLINE_CONFIG_VARIABLE = 'TRUNKLINE_CONFIG_JSON';

/**
 * Returns the configuration in the variable. Its `file` is a path in the working directory and does not exist. The path determines the base
 * of relative paths and the state folder, so each working directory has its own state.
 */
export function readInlineConfig(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): { readonly file: string; readonly text: string } | undefined {
  const text = env[INLINE_CONFIG_VARIABLE];
  // An empty variable counts as unset.
  if (text === undefined || text.trim() === '') return undefined;
  return { file: join(cwd, INLINE_CONFIG_VARIABLE), text };
}

/** Returns the name of a configuration for people: its path, or the variable that holds it. */
export function formatConfigName(file: string): string {
  return basename(file) === INLINE_CONFIG_VARIABLE ? INLINE_CONFIG_VARIABLE : file;
}
