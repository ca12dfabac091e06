import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { resolveLocations } from '../../../config/find-config.ts';
import {
  findReferencedVariables,
  KEYCHAIN_VARIABLE,
  listTokenVariables,
} from '../../../app/shared-gateway/client-variables.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { LaunchEntry, NeededVariables } from '../../../setup/import/sources/client-declaration.ts';
import type { CliContext } from '../../context.ts';

/** Returns the entry with which a client starts this program for a configuration. */
export function createLaunchEntry(
  context: CliContext,
  { configFile, hasPath }: { readonly configFile: string; readonly hasPath: boolean },
): LaunchEntry {
  const { env, program } = context;
  const [command, ...args] = hasPath && isOnPath(context) ? (['trunkline'] as const) : program;
  const isDefault = configFile === resolveLocations(context).configFile;
  const home = env['TRUNKLINE_HOME'];
  return {
    command,
    args: [...args, 'serve', ...(isDefault ? [] : ['--config', configFile])],
    // The client may start the program in an environment without this variable.
    env: home === undefined || home === '' ? undefined : { TRUNKLINE_HOME: home },
  };
}

/** Variables of the user's session that Trunkline itself uses, if they are set. */
const SESSION_VARIABLES = [
  'XDG_CONFIG_HOME',
  'XDG_STATE_HOME',
  'XDG_DATA_HOME',
  'XDG_CACHE_HOME',
  'XDG_RUNTIME_DIR',
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
  KEYCHAIN_VARIABLE,
];

/** Returns the variables that a client must hand over. */
export function listNeededVariables(configText: string, { env }: Pick<CliContext, 'env'>): NeededVariables {
  const isName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);
  const isSet = (name: string): boolean => env[name] !== undefined && env[name] !== '';
  const referenced = [...findReferencedVariables(configText).filter(isName), ...listTokenVariables(env)];
  return { referenced, set: referenced.filter(isSet), session: SESSION_VARIABLES.filter(isSet) };
}

/** Formats entries for clients that use `mcpServers`. */
export function formatSnippet(entries: JsonObject): string {
  return JSON.stringify({ mcpServers: entries }, null, 2);
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
