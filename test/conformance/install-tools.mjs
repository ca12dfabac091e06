import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the official suite and the command line of the MCP Inspector are installed, apart from everything else. */
export const tools = join(dirname(fileURLToPath(import.meta.url)), 'tools');

/** Installs them beside this file. */
export function installTools() {
  const { status } = spawnSync('npm', ['ci', '--no-progress', '--loglevel=error'], {
    cwd: tools,
    stdio: ['ignore', 2, 2],
    // What npm tells its scripts about the outer package would override the settings of the inner one.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name))),
  });
  if (status !== 0) throw new Error('The conformance suite and the Inspector could not be installed.');
}
