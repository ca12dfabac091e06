import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder in which the official suite and the MCP Inspector CLI are installed, separate from our own dependencies. */
export const tools = join(dirname(fileURLToPath(import.meta.url)), 'tools');

/** Installs the official suite and the MCP Inspector CLI. */
export function installTools() {
  const { status } = spawnSync('npm', ['ci', '--no-progress', '--loglevel=error'], {
    cwd: tools,
    stdio: ['ignore', 2, 2],
    // The variables that npm sets for scripts of the outer package would override the settings of the inner one.
    env: Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_config_/i.test(name))),
  });
  if (status !== 0)
    throw new Error(
      'Could not install the conformance suite and the Inspector. See the output of npm above.',
    );
}
