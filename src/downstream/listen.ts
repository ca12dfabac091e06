import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { GatewayError } from '../model/errors.ts';
import type { Logger } from '../observe/log.ts';
import type { McpRoutes } from './http.ts';

export interface ListenLimits {
  /** Until the head of a request is complete. */
  readonly headersMs: number;
  /** Until the whole request is complete. */
  readonly requestMs: number;
  /** How long a connection may be unused. */
  readonly keepAliveMs: number;
  /** How often the first two are looked at. */
  readonly checkMs: number;
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
}

export interface Listener {
  /** Of the server, without a path. */
  readonly url: URL;
  /** Takes no new connections and ends unused ones; over when those that just came have asked, at the latest after so long. */
  refuse(settleMs: number): Promise<void>;
  /** Takes no new connections and ends those that are unused after a while; over when the others have asked and were answered, or after so long. */
  settle(patience: Patience): Promise<void>;
  /** Ends all connections, also those in use. */
  close(): Promise<void>;
}

/** For connections of a server that ends, in milliseconds. */
export interface Patience {
  /** With those that were used before, and may be used again; begins anew whenever one is. */
  readonly unusedMs: number;
  /** With all of them; those that have not asked yet, or not to the end, have as long as this. */
  readonly askingMs: number;
}

const LIMITS: ListenLimits = {
  headersMs: 15_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  checkMs: 5000,
  maxConnections: 4096,
  maxHeaderBytes: 16 * 1024,
};
const ADDRESS = /^(?:(\[[0-9a-f:.]+\]|[^\s:[\]]*):)?(\d{1,5})$/i;
/** Somebody who never stops connecting does not hold up our end for longer than twice that. */
const TAKING_MS = 500;
/** Whoever is told to try again later is silent for longer. */
const QUIET_MS = 50;
/** Of a round in which nothing was done, on a machine that let us do it. */
const SHORT_ROUND_MS = 0.1;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1)$/;

export async function listen(options: {
  readonly address: string;
  /** Whether callers have to prove who they are; else only this machine is served. */
  readonly asksWho?: boolean;
  readonly routes: Pick<McpRoutes, 'handle'>;
  readonly log: Logger;
  readonly limits?: Partial<ListenLimits>;
}): Promise<Listener> {
  const { address, routes, log } = options;
  const { host, port } = readAddress(address, options.asksWho === true);
  const limits = { ...LIMITS, ...options.limits };
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Lets the system find out that a client vanished without a word.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    },
    (request, response) => routes.handle(request, response),
  );
  server.maxConnections = limits.maxConnections;
  const taken = watchTaken(server);
  const name = host.includes(':') ? `[${host}]` : host;
  await bind(server, { host, port, address: `${name}:${port}` });
  // Without a listener a failed accept, as with too many open files, would end the process.
  server.on('error', (error) => log.error('The HTTP server failed.', { error: String(error) }));
  server.on('drop', () => {
    log.warn('A connection was refused because too many are open.', {
      maxConnections: limits.maxConnections,
    });
  });
  const bound = server.address() as AddressInfo; // A TCP server that listens has one.
  const url = new URL(`http://${name}:${bound.port}`);
  return {
    url,
    refuse: (settleMs) => refusing(server, taken, settleMs),
    settle: (patience) => settling(server, taken, patience),
    close: closing(server),
  };
}

function readAddress(address: string, asksWho: boolean): { readonly host: string; readonly port: number } {
  const match = ADDRESS.exec(address);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) {
    throw new GatewayError(
      'USAGE',
      `"${address}" is not an address; write 127.0.0.1:PORT, [::1]:PORT or PORT.`,
    );
  }
  // Without a host it is this machine: whoever wants to be reached by others has to say so.
  const name = (match[1] || '127.0.0.1').toLowerCase();
  const host = name === 'localhost' ? '127.0.0.1' : name.replaceAll(/[[\]]/g, '');
  if (!asksWho && !LOOPBACK.test(host)) {
    throw new GatewayError(
      'USAGE',
      `On "${address}" others could reach every tool, since the configuration does not ask callers who they are. ` +
        `Add "auth": { "keys": true } to it and run \`trunkline keys add NAME\`, or use 127.0.0.1:${port}.`,
    );
  }
  return { host, port };
}

function bind(server: Server, to: { host: string; port: number; address: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(bindProblem(error, to.address));
    server.once('error', onError);
    server.listen({ host: to.host, port: to.port }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function bindProblem(cause: NodeJS.ErrnoException, address: string): GatewayError {
  if (cause.code === 'EADDRINUSE') {
    const message = `The address ${address} is already in use, perhaps by another Trunkline; choose another with --http 127.0.0.1:PORT.`;
    return new GatewayError('ADDRESS_IN_USE', message, { cause, details: { address } });
  }
  const message = `Cannot listen on ${address} (${cause.code ?? cause.message}); choose another with --http 127.0.0.1:PORT.`;
  return new GatewayError('USAGE', message, { cause, details: { address } });
}

/** A connection that was taken a moment ago may have a request on its way, which nobody would send again. */
async function refusing(server: Server, taken: Taken, settleMs: number): Promise<void> {
  await allTaken(taken);
  // First of all, since whoever connects until then is reset.
  const closed = refuseNew(server);
  server.closeIdleConnections();
  await within(closed, settleMs);
}

/** A connection that looks unused may have a request on its way, too: the server's own `close` would cut it. */
async function settling(server: Server, taken: Taken, { unusedMs, askingMs }: Patience): Promise<void> {
  await allTaken(taken);
  const closed = refuseNew(server);
  const until = performance.now() + askingMs;
  let asked = 0;
  const count = (): void => void asked++;
  server.on('request', count);
  for (let before = -1; before !== asked && performance.now() < until;) {
    before = asked;
    await within(closed, unusedMs);
    // What was sent while this process got no turn is read first: timers come before sockets.
    await nextRound();
    await nextRound();
  }
  server.off('request', count);
  server.closeIdleConnections();
  await within(closed, Math.max(0, until - performance.now()));
}

/** Resolves when the connections there are have ended. */
function refuseNew(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}

/**
 * Resolves when no connection waits to be taken, right after the system was asked for them: those that wait when a server closes are reset,
 * with what their clients have sent. Nobody can ask and close at once, so that it waits for a moment in which nobody comes; when there is
 * none, a round has to do which was too short for anybody to come.
 */
async function allTaken(last: Taken): Promise<void> {
  for (const begin = performance.now(); ;) {
    const quietIn = last() + QUIET_MS - performance.now();
    if (quietIn > 0 && performance.now() < begin + TAKING_MS) await delay(quietIn);
    await nextRound();
    const since = performance.now();
    await nextRound();
    const now = performance.now();
    const isEmpty = last() < since && now - since < SHORT_ROUND_MS;
    const isLate = now > begin + TAKING_MS;
    if (isEmpty && (isLate || last() < now - QUIET_MS)) return;
    if (now > begin + 2 * TAKING_MS) return;
  }
}

/** When a connection was last taken. */
type Taken = () => number;

function watchTaken(server: Server): Taken {
  let last = -Infinity;
  server.on('connection', () => void (last = performance.now()));
  return () => last;
}

/** Every socket is looked at meanwhile. */
function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function within(closed: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([closed, late]);
  clearTimeout(timer);
}

function closing(server: Server): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
}
