import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { writePeerFiles } from '../peers/peers.mjs';

export const echoServer = fileURLToPath(new URL('../fixtures/echo-server.mjs', import.meta.url));

/**
 * A folder with a config of `servers` echo servers of `tools` tools each, and all state of whoever uses it. `extra`
 * gives more arguments to a server by its index. A server has the folder among its arguments, so that it can be found.
 */
export function prepareHome(children, { servers = 1, tools = 2, config = {}, extra = () => [] } = {}) {
  const home = children.newFolder();
  const entry = (index) => ({
    command: process.execPath,
    args: [echoServer, '--tools', String(tools), '--home', home, ...extra(index)],
  });
  const names = servers === 1 ? ['bench'] : Array.from({ length: servers }, (_, index) => `bench${index}`);
  const mcpServers = Object.fromEntries(names.map((name, index) => [name, entry(index)]));
  writeFileSync(configOf(home), JSON.stringify({ mcpServers, ...config }));
  writePeerFiles(home, mcpServers);
  return home;
}

export function configOf(home) {
  return join(home, 'bench.jsonc');
}

/** Nothing of the person's own configuration, and a home that is thrown away. */
export function environment(home) {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRUNKLINE_|XDG_|NODE_OPTIONS)/.test(name));
  return { ...Object.fromEntries(own), HOME: home, TRUNKLINE_HOME: home };
}
