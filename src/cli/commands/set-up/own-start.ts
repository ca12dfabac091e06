import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { locations } from '../../../config/paths.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { CliContext } from '../../context.ts';

/** How a client is told to start this program for a configuration. */
export function ownStart(
  context: CliContext,
  { configFile, hasPath }: { readonly configFile: string; readonly hasPath: boolean },
): JsonObject {
  const { env, program } = context;
  const [command, ...args] = hasPath && isOnPath(context) ? (['trunkline'] as const) : program;
  const isUsual = configFile === locations(context).configFile;
  const moved = env['TRUNKLINE_HOME'];
  return {
    command,
    args: [...args, 'serve', ...(isUsual ? [] : ['--config', configFile])],
    // A client that is started elsewhere does not know where everything was moved to.
    ...(moved !== undefined && moved !== '' && { env: { TRUNKLINE_HOME: moved } }),
  };
}

/** The lines that any client with `mcpServers` takes. */
export function snippet(start: JsonObject): string {
  return JSON.stringify({ mcpServers: { trunkline: start } }, null, 2);
}

function isOnPath({ env, program }: CliContext): boolean {
  const own = program.at(-1) ?? '';
  for (const folder of (env['PATH'] ?? '').split(delimiter)) {
    try {
      if (folder !== '' && realpathSync(join(folder, 'trunkline')) === realpathSync(own)) return true;
    } catch {
      continue; // It is not in this folder.
    }
  }
  return false;
}
