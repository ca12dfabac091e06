import { basename, join } from 'node:path';

/** The variable that may hold a whole configuration, for containers and CI where there is no file. */
export const INLINE_CONFIG = 'TRUNKLINE_CONFIG_JSON';

/**
 * The configuration of the variable. Its file does not exist: paths in it are relative to the folder we were started in, and what is
 * remembered belongs to both.
 */
export function inlineConfig(
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): { readonly file: string; readonly text: string } | undefined {
  const text = env[INLINE_CONFIG];
  // An empty variable is as good as none.
  if (text === undefined || text.trim() === '') return undefined;
  return { file: join(cwd, INLINE_CONFIG), text };
}

/** What a configuration is called where people read about it: a path, or the variable. */
export function shownConfig(file: string): string {
  return basename(file) === INLINE_CONFIG ? INLINE_CONFIG : file;
}
