import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import type { McpRoutes } from './mcp-routes.ts';

export interface ListenLimits {
  /** Maximum time until the headers of a request are complete. */
  readonly headersMs: number;
  /** Maximum time until the whole request is complete. */
  readonly requestMs: number;
  /** Maximum time that a connection may be idle. */
  readonly keepAliveMs: number;
  /** The interval at which the first two limits are checked. */
  readonly checkMs: number;
  readonly maxConnections: number;
  readonly maxHeaderBytes: number;
}

export interface HttpListener {
  /** The address of the server, without a path. */
  readonly url: URL;
  /**
   * Refuses new connections and closes the connections that are between two requests. Resolves when all connections are closed, or after
   * `settleMs`. Until then, connections that have sent nothing yet can still send a request.
   */
  refuseConnections(settleMs: number): Promise<void>;
  /** Refuses new connections, and resolves when the open ones are closed or the limits are reached. */
  drain(limits: DrainLimits): Promise<void>;
  /** Closes all connections, including those in use. */
  close(): Promise<void>;
}

/** The time limits for the connections of a listener that stops. */
interface DrainLimits {
  /** Idle connections are closed when no request has arrived on any connection for this long. */
  readonly idleMs: number;
  /** Maximum time for the whole drain, without the time for accepting the connections that wait when it starts. */
  readonly totalMs: number;
}

const LIMITS: ListenLimits = {
  headersMs: 15_000,
  requestMs: 60_000,
  keepAliveMs: 65_000,
  checkMs: 5000,
  maxConnections: 4096,
  maxHeaderBytes: 16 * 1024,
};
/** Handling this many requests takes a few milliseconds. */
const MAX_PIPELINED_PER_TURN = 10;
const ADDRESS = /^(?:(\[[0-9a-f:.]+\]|[^\s:[\]]*):)?(\d{1,5})$/i;
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1)$/;
/** After this time, `acceptAll` returns even if a connection arrived within the last `QUIET_MS`. After twice this time, it gives up. */
const ACCEPT_MS = 500;
/** The time without new connections that ends `acceptAll`. Clients that retry after a rejection wait longer, so they do not prolong it. */
const QUIET_MS = 50;
/** An idle turn of the event loop is shorter than this on a machine that is not overloaded. */
const SHORT_TURN_MS = 0.1;

export async function listen(options: {
  readonly address: string;
  /** Whether callers need credentials. If they do not, only loopback addresses are accepted. */
  readonly requiresAuth?: boolean;
  readonly routes: Pick<McpRoutes, 'handle'>;
  readonly log: Logger;
  readonly limits?: Partial<ListenLimits>;
}): Promise<HttpListener> {
  const { address, routes, log } = options;
  const { host, port } = parseAddress(address, options.requiresAuth === true);
  const limits = { ...LIMITS, ...options.limits };
  const connections = new ConnectionTracker(routes);
  const server = createServer(
    {
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      keepAliveTimeout: limits.keepAliveMs,
      connectionsCheckingInterval: limits.checkMs,
      maxHeaderSize: limits.maxHeaderBytes,
      // Lets the operating system notice clients that disappeared without closing the connection.
      keepAlive: true,
      keepAliveInitialDelay: 30_000,
    },
    (request, response) => connections.onRequest(request, response),
  );
  server.maxConnections = limits.maxConnections;
  server.on('connection', (socket) => connections.onAccepted(socket));
  const name = host.includes(':') ? `[${host}]` : host;
  await bind(server, { host, port, address: `${name}:${port}` });
  // Without this listener, a failed accept would end the process. Accepting fails, for example, if too many files are open.
  server.on('error', (error) => log.error('The HTTP server failed.', { error: String(error) }));
  server.on('drop', () => {
    log.warn('Refused a connection, since too many are open.', {
      maxConnections: limits.maxConnections,
    });
  });
  const { port: boundPort } = server.address() as AddressInfo; // The address of a listening TCP server is never a string or null.
  const url = new URL(`http://${name}:${boundPort}`);
  return {
    url,
    refuseConnections: (settleMs) => refuseConnections(server, connections, settleMs),
    drain: (drainLimits) => drain(server, connections, drainLimits),
    close: closeOnce(server),
  };
}

function parseAddress(
  address: string,
  requiresAuth: boolean,
): { readonly host: string; readonly port: number } {
  const match = ADDRESS.exec(address);
  const port = Number(match?.[2]);
  if (match === null || port > 65_535) {
    throw new GatewayError(
      'USAGE',
      `"${address}" is not a valid address. Write 127.0.0.1:PORT, [::1]:PORT or PORT.`,
    );
  }
  // An address without a host means loopback: serving other machines requires an explicit host.
  const name = (match[1] || '127.0.0.1').toLowerCase();
  const host = name === 'localhost' ? '127.0.0.1' : name.replaceAll(/[[\]]/g, '');
  if (!requiresAuth && !LOOPBACK.test(host)) {
    throw new GatewayError(
      'USAGE',
      `Other machines could use every tool on "${address}", since the configuration requires no credentials. ` +
        `Add "auth": { "keys": true } to the configuration and run \`trunkline keys add NAME\`, or use 127.0.0.1:${port}.`,
    );
  }
  return { host, port };
}

function bind(server: Server, to: { host: string; port: number; address: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => reject(bindError(error, to.address));
    server.once('error', onError);
    server.listen({ host: to.host, port: to.port }, () => {
      server.off('error', onError);
      resolve();
    });
  });
}

function bindError(cause: NodeJS.ErrnoException, address: string): GatewayError {
  if (cause.code === 'EADDRINUSE') {
    const message = `The address ${address} is already in use, perhaps by another Trunkline. Choose another one with --http 127.0.0.1:PORT.`;
    return new GatewayError('ADDRESS_IN_USE', message, { cause, details: { address } });
  }
  const message = `Cannot listen on ${address} (${cause.code ?? cause.message}). Choose another address with --http 127.0.0.1:PORT.`;
  return new GatewayError('USAGE', message, { cause, details: { address } });
}

/** See `HttpListener`. A request would be lost if its connection closed while it is on its way, so new connections get time to send one. */
async function refuseConnections(
  server: Server,
  connections: ConnectionTracker,
  settleMs: number,
): Promise<void> {
  await acceptAll(connections);
  // Nothing may run between `acceptAll` and this line: the operating system resets connections that arrive in between.
  const closed = stopListening(server);
  connections.closeUnused();
  await waitAtMost(closed, settleMs);
}

/** See `HttpListener`. A request may also be on its way on an idle connection, which `Server.close` would close at once. */
async function drain(
  server: Server,
  connections: ConnectionTracker,
  { idleMs, totalMs }: DrainLimits,
): Promise<void> {
  await acceptAll(connections);
  const closed = stopListening(server);
  const until = performance.now() + totalMs;
  let requests = 0;
  const count = (): void => void requests++;
  server.on('request', count);
  // Waits in steps of `idleMs` until no request has arrived during a whole step.
  for (let before = -1; before !== requests && performance.now() < until;) {
    before = requests;
    await waitAtMost(closed, idleMs);
    // The event loop runs timers before it reads sockets. If the process was paused, requests may be waiting unread, so two more turns
    // of the event loop let them be counted.
    await nextTurn();
    await nextTurn();
  }
  server.off('request', count);
  connections.closeUnused();
  await waitAtMost(closed, Math.max(0, until - performance.now()));
}

/**
 * Refuses new connections; resolves when all open ones have closed. Calls the method of `net.Server`, because that of `http.Server` also
 * closes idle connections.
 */
function stopListening(server: Server): Promise<void> {
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()));
}

/**
 * Resolves when no connection waits to be accepted. The operating system resets connections that still wait when a server closes, and
 * discards the requests on them. Accepting and closing are not atomic, so this function waits for two conditions: (1) No client has
 * connected for `QUIET_MS`. (2) The last turn of the event loop accepted nothing, and was too short for another client to connect. After
 * `ACCEPT_MS`, the second condition is sufficient. After twice that time, the function gives up.
 */
async function acceptAll(connections: ConnectionTracker): Promise<void> {
  for (const startedAt = performance.now(); ;) {
    const quietIn = connections.lastAcceptedAt + QUIET_MS - performance.now();
    if (quietIn > 0 && performance.now() < startedAt + ACCEPT_MS) await delay(quietIn);
    await nextTurn();
    const turnStartedAt = performance.now();
    await nextTurn();
    const now = performance.now();
    const isEmpty = connections.lastAcceptedAt < turnStartedAt && now - turnStartedAt < SHORT_TURN_MS;
    const isLate = now > startedAt + ACCEPT_MS;
    if (isEmpty && (isLate || connections.lastAcceptedAt < now - QUIET_MS)) return;
    if (now > startedAt + 2 * ACCEPT_MS) return;
  }
}

/**
 * Tracks which connections are between two requests. Replaces `Server.closeIdleConnections`, which since Node 26.4 also closes
 * connections that have not sent anything yet, although their first request may be on its way.
 */
class ConnectionTracker {
  readonly #routes: Pick<McpRoutes, 'handle'>;
  readonly #connections = new Map<Socket, ConnectionUse>();
  /** Pipelined requests that have not been handled yet. */
  readonly #pipelined: PipelinedRequest[] = [];
  /** The time of the last new connection, by `performance.now()`. */
  lastAcceptedAt = -Infinity;

  constructor(routes: Pick<McpRoutes, 'handle'>) {
    this.#routes = routes;
  }

  onAccepted(socket: Socket): void {
    this.lastAcceptedAt = performance.now();
    this.#connections.set(socket, new ConnectionUse(socket));
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** Handles a request at once, unless earlier ones of its connection are unanswered. */
  onRequest(request: IncomingMessage, response: ServerResponse): void {
    const use = this.#connections.get(request.socket);
    if (use === undefined || !use.onRequest(response)) this.#routes.handle(request, response);
    else {
      use.hold();
      if (this.#pipelined.push({ use, request, response }) === 1) setImmediate(this.#handlePipelined);
    }
  }

  /** Handles a few pipelined requests per turn of the event loop, because one read of a socket contains hundreds of small ones. */
  readonly #handlePipelined = (): void => {
    for (const { use, request, response } of this.#pipelined.splice(0, MAX_PIPELINED_PER_TURN)) {
      // A request whose connection has closed is dropped, as if it had never been read.
      if (!request.socket.destroyed) this.#routes.handle(request, response);
      use.release();
    }
    if (this.#pipelined.length > 0) setImmediate(this.#handlePipelined);
  };

  /** Closes the connections whose requests are all answered and that have not sent anything since. */
  closeUnused(): void {
    for (const [socket, use] of this.#connections) if (use.isUnused) socket.destroy();
  }
}

interface PipelinedRequest {
  readonly use: ConnectionUse;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Tracks whether one connection is between two requests. */
class ConnectionUse {
  readonly #socket: Socket;
  #pendingResponses = 0;
  #heldRequests = 0;
  /** The value of `bytesRead` when the last response ended; undefined before the first response. */
  #answeredBytes: number | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node resumes reading the socket after each request, even while requests are held.
    socket.on('resume', () => {
      if (this.#heldRequests > 0) socket.pause();
    });
  }

  /** Returns whether earlier requests of the connection are unanswered. */
  onRequest(response: ServerResponse): boolean {
    this.#pendingResponses++;
    response.on('close', this.#onAnswered);
    return this.#pendingResponses > 1;
  }

  /**
   * Reads nothing more from the connection until the held request is released, because Node would read up to two megabytes of
   * requests in one turn. Requests that were read already, at most 64 kB, wait for their turn.
   */
  hold(): void {
    this.#heldRequests++;
    this.#socket.pause();
  }

  release(): void {
    this.#heldRequests--;
    if (this.#heldRequests === 0) this.#socket.resume();
  }

  get isUnused(): boolean {
    return this.#pendingResponses === 0 && this.#socket.bytesRead === this.#answeredBytes;
  }

  /** This is a property, so that one function is created per connection instead of one per request. */
  readonly #onAnswered = (): void => {
    this.#pendingResponses--;
    this.#answeredBytes = this.#socket.bytesRead;
  };
}

/** Resolves after the event loop has polled all sockets. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function waitAtMost(closed: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  await Promise.race([closed, late]);
  clearTimeout(timer);
}

function closeOnce(server: Server): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
    return closed;
  };
}
