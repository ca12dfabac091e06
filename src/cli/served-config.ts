import { join, resolve } from 'node:path';
import type { AppOptions } from '../app/app-options.ts';
import { locations, stateDirOf } from '../config/paths.ts';
import type { CliContext } from './context.ts';
import { foundConfig } from './found-config.ts';
import { serverFlags } from './server-flags.ts';

/** What is served: a configuration, servers of the command line, or both when both are named. */
export async function servedConfig(
  options: { readonly config?: string | undefined; readonly server?: readonly string[] | undefined },
  context: CliContext,
): Promise<Pick<AppOptions, 'file' | 'text' | 'isInline' | 'stateDir' | 'servers' | 'trustedIn'>> {
  if (options.server === undefined) {
    const { file, stateDir, trustedIn, text, isInline } = await foundConfig(options.config, context);
    return { file, stateDir, trustedIn, text, isInline };
  }
  const servers = serverFlags(options.server, context.cwd);
  const isAll = options.config === undefined;
  const file = isAll ? join(context.cwd, 'command-line') : resolve(context.cwd, options.config);
  const stateDir = stateDirOf(file, locations(context), servers);
  return { file, stateDir, servers, ...(isAll && { text: '{}' }) };
}
