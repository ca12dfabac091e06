import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { INLINE_CONFIG_VARIABLE } from '../../config/file/inline-config.ts';
import { findConfig, resolveLocations, resolveStateDir } from '../../config/find-config.ts';
import { isTrusted } from '../../config/file/config-trust.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';

/** Prints the path of the configuration that other commands use. Does not read, create or start anything. */
export async function runConfigPath(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out, env, cwd } = context;
  const locations = resolveLocations(context);
  let needsTrust = false;
  const { file, from } = await findConfig({
    flag: options.config,
    env,
    cwd,
    locations,
    // An untrusted project configuration is accepted, because the command only prints its path.
    isTrusted: async (project) => {
      needsTrust = !(await isTrusted(project, locations.stateDir));
      return true;
    },
  });
  const isInline = from === 'inline';
  const exists = isInline || (await isFile(file));
  if (out.style.format === 'json')
    out.json({
      // Scripts open this path, so it must be a file.
      path: isInline ? null : file,
      exists,
      dir: dirname(file),
      from,
      variable: isInline ? INLINE_CONFIG_VARIABLE : undefined,
      trusted: !needsTrust,
      stateDir: resolveStateDir(file, locations),
    });
  else out.line(isInline ? `env:${INLINE_CONFIG_VARIABLE}` : file);
  if (out.style.format === 'text' && !exists) out.note('This file does not exist yet.');
  if (out.style.format === 'text' && needsTrust)
    out.note(
      'This project configuration is not trusted yet, so it is not used. Read it, then run: trunkline trust',
    );
  return 0;
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
}
