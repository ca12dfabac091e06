import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { resolveLocations } from '../../../config/find-config.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { CliContext } from '../../context.ts';

/** Returns the entry with which a client starts this program for a configuration. */
export function createLaunchEntry(
  context: CliContext,
  { configFile, hasPath }: { readonly configFile: string; readonly hasPath: boolean },
): JsonObject {
  const { env, program } = context;
  const [command, ...args] = hasPath && isOnPath(context) ? (['trunkline'] as const) : program;
  const isDefault = configFile === resolveLocations(context).configFile;
  const home = env['TRUNKLINE_HOME'];
  return {
    command,
    args: [...args, 'serve', ...(isDefault ? [] : ['--config', configFile])],
    // The client may start the program in an environment without this variable.
    ...(home !== undefined && home !== '' && { env: { TRUNKLINE_HOME: home } }),
  };
}

/** Formats the entry for clients that use `mcpServers`. */
export function formatSnippet(entry: JsonObject): string {
  return JSON.stringify({ mcpServers: { trunkline: entry } }, null, 2);
}

/** Whether the command `trunkline` on the PATH is this program. */
function isOnPath({ env, program }: CliContext): boolean {
  const own = program.at(-1) ?? '';
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    try {
      if (folder !== '' && realpathSync(join(folder, 'trunkline')) === realpathSync(own)) return true;
    } catch {
      continue; // The folder has no such file.
    }
  }
  return false;
}
