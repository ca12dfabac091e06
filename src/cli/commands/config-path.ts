import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { INLINE_CONFIG } from '../../config/file/inline.ts';
import { findConfig, locations, stateDirOf } from '../../config/paths.ts';
import { isTrusted } from '../../config/file/trust.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';

/** Says which configuration other commands use, whatever is in it; nothing is read, made or started. */
export async function configPath(options: GlobalOptions, context: CliContext): Promise<ExitCode> {
  const { out, env, cwd } = context;
  const places = locations(context);
  let isToBeTrusted = false;
  const { file, from } = await findConfig({
    ...{ flag: options.config, env, cwd, locations: places },
    isTrusted: async (project) => {
      isToBeTrusted = !(await isTrusted(project, places.stateDir));
      return true;
    },
  });
  const isInline = from === 'inline';
  const exists = isInline || (await isFile(file));
  if (out.style.format === 'json')
    out.json({
      // What scripts open has to be a file.
      path: isInline ? null : file,
      exists,
      dir: dirname(file),
      from,
      ...(isInline && { variable: INLINE_CONFIG }),
      trusted: !isToBeTrusted,
      stateDir: stateDirOf(file, places),
    });
  else out.line(isInline ? `env:${INLINE_CONFIG}` : file);
  if (out.style.format === 'text' && !exists) out.note('There is no such file yet.');
  if (out.style.format === 'text' && isToBeTrusted)
    out.note('It is not used before you have read it and trust it: trunkline trust');
  return 0;
}

async function isFile(file: string): Promise<boolean> {
  return stat(file).then(
    (found) => found.isFile(),
    () => false,
  );
}
