// The subjects between a client and the echo servers of a home: none (direct), a proxy of ours, Trunkline, or a peer.

import { createServer, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { httpClient } from '../client/http-client.mjs';
import { modernParams } from '../client/requests.mjs';
import { sseClient } from '../client/sse-client.mjs';
import { stdioClient } from '../client/stdio-client.mjs';
import { configOf, echoServer, environment } from './homes.mjs';
import { cpuMicroseconds, memory, processesWith } from './proc.mjs';
import { LATE, withinMs } from './timeout.mjs';

export { environment, prepareHome } from './homes.mjs';

const fixture = (name) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));
/** The program that starts Trunkline. */
export const gateway = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

const READY_WITHIN_MS = 20_000;
const BOTH = ['stdio', 'http'];

const merged = (tool, args, server = 'bench') => ({ name: `${server}__${tool}`, arguments: args });
const proxyArgs = (script) =>
  function args({ config, home, transport }) {
    return [
      fixture(script),
      '--config',
      config,
      '--cache',
      `${home}/floor.json`,
      ...(transport === 'http' ? ['--http', '0'] : []),
    ];
  };
const serve = ({ config, transport, expose = 'direct' }, ...more) => [
  gateway,
  'serve',
  '--config',
  config,
  '--expose',
  expose,
  ...(transport === 'http' ? ['--http', '127.0.0.1:0'] : more),
];

/** Subjects of our own; they print the address on which they listen. */
const OWN = {
  direct: {
    transports: BOTH,
    args: ({ home, transport }) => [
      echoServer,
      '--home',
      home,
      ...(transport === 'http' ? ['--http', '0'] : []),
    ],
    call: (tool, args) => ({ name: tool, arguments: args }),
  },
  floor: { transports: BOTH, args: proxyArgs('floor-proxy.mjs'), call: merged },
  'sdk-naive': { transports: BOTH, args: proxyArgs('sdk-proxy.mjs'), call: merged },
  trunkline: { transports: BOTH, args: (options) => serve(options, '--standalone'), call: merged },
  /** As clients use it: a pipe to the gateway in the background, which `endGateway` ends. */
  attached: { transports: ['stdio'], args: (options) => serve(options), call: merged },
};

/** Returns a subject of our own by its name; a peer is already a subject. */
export function subjectOf(nameOrPeer) {
  if (typeof nameOrPeer !== 'string') return { ...nameOrPeer, isPeer: true };
  return { name: nameOrPeer, ...OWN[nameOrPeer] };
}

/**
 * Starts a subject without waiting for it. `nodeArgs` are for profiling; `isApart` is for a subject whose end may affect its process group;
 * `configHome` contains the configuration if several subjects share one.
 */
function launch(children, { name, transport = 'stdio', home, configHome = home, nodeArgs = [], ...more }) {
  const { port, expose, isApart = false } = more;
  const subject = subjectOf(name);
  const args = subject.args({ config: configOf(configHome), home, transport, port, expose });
  const script = subject.script === undefined ? [] : [subject.script];
  const running = children.start([...nodeArgs, ...script, ...args], {
    command: subject.binary,
    env: environment(home),
    cwd: subject.isPeer ? home : undefined,
    // Every server runs in its own session, whichever subject starts it; see the floor.
    detached: isApart || subject.name === 'direct',
  });
  if (transport === 'http') running.child.stdout.resume();
  return running;
}

/** Ends the background gateway of this home, if there is one. */
export async function endGateway(children, home) {
  const running = children.start([gateway, 'stop', '--config', configOf(home)], { env: environment(home) });
  running.child.stdout.resume();
  await children.gone(running);
}

/** Starts a subject and connects a client. `era` is `modern` for a client without a handshake. */
export async function open(children, options) {
  const subject = subjectOf(options.name);
  const { transport = 'stdio', home, era = 'legacy', withinMs } = options;
  const port = subject.isPeer && transport === 'http' ? await freePort() : undefined;
  const running = launch(children, { ...options, port });
  let fail;
  const failed = new Promise((_, reject) => (fail = reject));
  failed.catch(() => {}); // `guard` reports it to callers that wait on the subject.
  running.child.on('exit', (code, signal) =>
    fail(new Error(`${subject.name} ended (${signal ?? code})\n${running.stderr.slice(-500)}`)),
  );
  const guard = (work) => Promise.race([work, failed]);
  const onNotification = options.onNotification;
  const shake = async () => {
    if (transport !== 'http') {
      const client = stdioClient(running.child, { onNotification, era });
      return { client, initialized: await client.open() };
    }
    const url = port === undefined ? await address(running) : await listening(port);
    return { url, ...(await shakeOverHttp(subject, url, { era, onError: fail })) };
  };
  try {
    const complaint = `${subject.name} did not answer the handshake`;
    const { client, url, initialized } = await guard(within(shake(), complaint, running, withinMs));
    return {
      name: subject.name,
      subject,
      client,
      url,
      initialized,
      home,
      pid: running.pid,
      guard,
      running,
      params: (tool, args, server) => {
        const params = subject.call(tool, args, server);
        return era === 'modern' ? modernParams(params) : params;
      },
      async close() {
        client.close();
        await children.end(running);
        if (subject.name === 'attached') await endGateway(children, home);
        if (subject.isPeer) children.killLeft(home);
      },
    };
  } catch (error) {
    await children.end(running);
    throw error;
  }
}

/** A peer may listen before it can answer: repeats the handshake until it succeeds or the caller gives up. */
async function shakeOverHttp(subject, url, { era, onError }) {
  const make = subject.protocol === 'sse' ? sseClient : httpClient;
  const end = Date.now() + READY_WITHIN_MS;
  for (;;) {
    let isOpen = false;
    let refuse;
    const refused = new Promise((_, reject) => (refuse = reject));
    const client = make(url, (error) => (isOpen ? onError(error) : refuse(error)), { era });
    try {
      const initialized = await Promise.race([client.open(), refused]);
      isOpen = true;
      return { client, initialized };
    } catch (error) {
      client.close();
      if (!subject.isPeer || Date.now() > end) throw error;
      await sleep(20);
    }
  }
}

/** Another client of a running HTTP subject. */
export function anotherClient({ subject, url }, onError) {
  return (subject.protocol === 'sse' ? sseClient : httpClient)(url, onError);
}

/** The processes of a subject without its servers; the shell that supervises the servers counts too. */
function ownProcesses({ name, home, pid }) {
  if (name === 'direct') return [{ pid, command: '' }];
  return processesWith(home).filter((each) => !isServer(each));
}

export function serverProcesses({ home, pid: own }) {
  return processesWith(home).filter((each) => each.pid !== own && isServer(each));
}

function isServer({ command }) {
  return command.startsWith(`${process.execPath} ${echoServer}`);
}

/** Returns a function that reads the CPU time of all current processes of a subject. */
export function cpuReader(opened) {
  const pids = ownProcesses(opened).map(({ pid }) => pid);
  return () => {
    const times = pids.map((pid) => cpuMicroseconds(pid) ?? 0);
    return times.length === 0 ? undefined : times.reduce((sum, time) => sum + time, 0);
  };
}

/** Resident memory without the shells, and the proportional memory of everything. */
export function memoryOf(opened) {
  const own = ownProcesses(opened);
  const sum = (key, processes) =>
    processes.reduce((total, { pid }) => total + (memory(pid)[key] ?? 0), 0) || undefined;
  const programs = own.filter(({ command }) => !/^(\/bin\/)?sh\b/.test(command));
  return { rss: sum('rss', programs), pss: sum('pss', own), processes: own.length };
}

/** Appends the output of the process to the error. */
export async function within(work, complaint, running, ms = READY_WITHIN_MS) {
  try {
    return await withinMs(work, ms);
  } catch (error) {
    if (error.message !== LATE) throw error;
    const said = running.stderr.slice(-500);
    throw new Error(`${complaint} within ${Math.round(ms)} ms\n${said}`, { cause: error });
  }
}

/** HTTP subjects of our own print their address on standard error. */
function address(running) {
  const found = new Promise((resolve) => {
    running.child.stderr.on('data', () => {
      const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(running.stderr)?.[0];
      if (url !== undefined) resolve(url);
    });
  });
  return within(found, 'no address was printed', running);
}

/** Peers get a port as an argument; polls it until it accepts connections. */
async function listening(port) {
  const end = Date.now() + READY_WITHIN_MS;
  while (!(await accepts(port))) {
    if (Date.now() > end) throw new Error('nobody listens');
    await sleep(10);
  }
  return `http://127.0.0.1:${port}/mcp`;
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const tell = (value) => () => {
      socket.destroy();
      resolve(value);
    };
    socket.on('connect', tell(true)).on('error', tell(false));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
