import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { writePeerFiles } from '../peers/peers.mjs';

export const echoServer = fileURLToPath(new URL('../fixtures/echo-server.mjs', import.meta.url));

/**
 * Creates a folder with a configuration of `servers` echo servers with `tools` tools each; it also holds the state of the subject. `extra`
 * returns more arguments for a server by its index. The folder is among the arguments of each server, which makes its process findable.
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

/** Environment variables without the user's own configuration, and with a throw-away home. */
export function environment(home) {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRUNKLINE_|XDG_|NODE_OPTIONS)/.test(name));
  return { ...Object.fromEntries(own), HOME: home, TRUNKLINE_HOME: home };
}
