// The three ways from a client to the echo server: directly, through the floor, through Trunkline.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { httpClient } from '../client/http-client.mjs';
import { stdioClient } from '../client/stdio-client.mjs';

const echoServer = fileURLToPath(new URL('../fixtures/echo-server.mjs', import.meta.url));
const floorProxy = fileURLToPath(new URL('../fixtures/floor-proxy.mjs', import.meta.url));
/** Trunkline, as it is started. */
export const gateway = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const READY_WITHIN_MS = 20_000;

/** A folder with a config of `servers` echo servers of `tools` tools each, and all state of whoever uses it. */
export function prepareHome(children, { servers = 1, tools = 2, config = {} } = {}) {
  const home = children.newFolder();
  const entry = { command: process.execPath, args: [echoServer, '--tools', String(tools)] };
  const names = servers === 1 ? ['bench'] : Array.from({ length: servers }, (_, i) => `bench${i}`);
  const mcpServers = Object.fromEntries(names.map((name) => [name, entry]));
  writeFileSync(join(home, 'bench.jsonc'), JSON.stringify({ mcpServers, ...config }));
  return home;
}

/** Starts a subject without waiting for it. `nodeArgs` are for profiling. */
export function launch(children, { name, transport = 'stdio', home, nodeArgs = [] }) {
  const isHttp = transport === 'http';
  const config = join(home, 'bench.jsonc');
  const commands = {
    direct: [echoServer, ...(isHttp ? ['--http', '0'] : [])],
    floor: [
      floorProxy,
      '--config',
      config,
      '--cache',
      join(home, 'floor.json'),
      ...(isHttp ? ['--http', '0'] : []),
    ],
    trunkline: [
      ...nodeArgs,
      gateway,
      'serve',
      '--config',
      config,
      ...(isHttp ? ['--http', '127.0.0.1:0'] : ['--standalone']),
      '--expose',
      'direct',
    ],
  };
  // As clients have it: a pipe to the gateway in the background, which `endGateway` ends.
  commands.attached = commands.trunkline.filter((arg) => arg !== '--standalone');
  // Every server runs in a session of its own, whoever starts it; see the floor.
  return children.start(commands[name], { env: environment(home), detached: name === 'direct' });
}

/** Ends the gateway in the background of this home, if there is one. */
export async function endGateway(children, home) {
  const config = join(home, 'bench.jsonc');
  const running = children.start([gateway, 'stop', '--config', config], { env: environment(home) });
  running.child.stdout.resume();
  await children.gone(running);
}

/** A subject whose client has shaken hands. */
export async function open(children, options) {
  const running = launch(children, options);
  const { name, transport = 'stdio' } = options;
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  failed.catch(() => {}); // Whoever waits on the subject hears of it through `guard`.
  running.child.on('exit', (code, signal) =>
    fail(new Error(`${name} ended (${signal ?? code}): ${running.stderr}`)),
  );
  const guard = (work) => Promise.race([work, failed]);
  const client =
    transport === 'http'
      ? httpClient(await guard(address(running)), (error) => fail(error))
      : stdioClient(running.child);
  await guard(within(client.open(), `${name} did not answer the handshake`, running));
  return {
    name,
    client,
    pid: running.pid,
    guard,
    exposed: (tool) => (name === 'direct' ? tool : `bench__${tool}`),
    async close() {
      client.close();
      await children.end(running);
    },
  };
}

export async function within(work, complaint, running) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${complaint} within ${READY_WITHIN_MS} ms: ${running.stderr}`)),
      READY_WITHIN_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** HTTP subjects print where they listen on standard error. */
function address(running) {
  const found = new Promise((resolve) => {
    running.child.stderr.on('data', () => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(running.stderr)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
  return within(found, 'no address was printed', running);
}

/** Nothing of the person's own configuration, and a home that is thrown away. */
export function environment(home) {
  const own = Object.entries(process.env).filter(([name]) => !/^(TRUNKLINE_|XDG_|NODE_OPTIONS)/.test(name));
  return { ...Object.fromEntries(own), HOME: home, TRUNKLINE_HOME: home };
}
