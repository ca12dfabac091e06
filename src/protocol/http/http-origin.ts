import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { AgentOptions, ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { SwapRemoveSet } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import { GatewayError } from '../../core/errors.ts';
import { BaseHeaders } from './request-headers.ts';
import type { HeaderProvider } from './request-headers.ts';

export interface HttpOriginOptions {
  readonly url: string;
  readonly headers: HeaderProvider;
  readonly maxMessageBytes: number;
  /** Covers name lookup, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Requests beyond this number wait for a socket. */
  readonly maxSockets?: number;
  /** Time for which an unused socket stays open. */
  readonly idleSocketMs?: number;
}

/**
 * `call` carries requests, which wait for a response. `side` is for short messages that must get through even when calls occupy all
 * sockets of the other pool: one of those calls may be waiting for the response to a question of the server.
 */
export type SocketPool = 'call' | 'side';

/** The maximum number of notifications and responses that wait to be accepted; a server that lets more of them wait is disconnected. */
export const MAX_UNACCEPTED_MESSAGES = 1000;
/** The time in which a server must accept a notification or a response; it need not process the message before that. */
export const ACCEPT_TIMEOUT_MS = 30_000;
const SIDE_SOCKETS = 16;
/** The idle time before TCP keep-alive probes. Node sends ten, one per second, so a vanished server is noticed after 25 s. */
const PROBE_AFTER_MS = 15_000;

export function unacceptedError(): GatewayError {
  return new GatewayError(
    'UPSTREAM_PROTOCOL',
    `The server does not accept the messages of the gateway: ${MAX_UNACCEPTED_MESSAGES} of them are waiting, so it was disconnected.`,
  );
}

/** The sockets to one server and the requests that are open on them. */
export class HttpOrigin {
  readonly url: URL;
  readonly headers: BaseHeaders;
  readonly maxMessageBytes: number;
  /** The requests that `close` must end. */
  readonly open = new SwapRemoveSet<SetMember & { destroy(): void }>();
  readonly #host: string;
  readonly #connectTimeoutMs: number;
  readonly #request: typeof httpRequest;
  readonly #call: HttpAgent;
  readonly #side: HttpAgent;
  readonly #sockets = new Set<Duplex>();
  #isClosed = false;

  constructor(options: HttpOriginOptions) {
    this.url = new URL(options.url);
    this.headers = new BaseHeaders(this.url, options.headers);
    this.maxMessageBytes = options.maxMessageBytes;
    this.#host = this.url.hostname.replace(/^\[|\]$/g, '');
    this.#connectTimeoutMs = options.connectTimeoutMs;
    this.#request = this.url.protocol === 'https:' ? httpsRequest : httpRequest;
    const idleMs = options.idleSocketMs ?? 4000;
    this.#call = this.#agent(options.maxSockets ?? 128, idleMs);
    this.#side = this.#agent(SIDE_SOCKETS, idleMs);
  }

  /** Creates a request in the given socket pool. Throws if a header contains invalid characters. */
  request(options: {
    readonly method: string;
    readonly path: string;
    readonly headers: readonly string[];
    readonly socketPool: SocketPool;
  }): ClientRequest {
    return this.#request({
      agent: options.socketPool === 'call' ? this.#call : this.#side,
      host: this.#host,
      port: this.url.port,
      method: options.method,
      path: options.path,
      headers: options.headers,
    });
  }

  get path(): string {
    return this.url.pathname + this.url.search;
  }

  /** Returns the path of a redirect target. Returns undefined for another origin, which must not get our headers. */
  resolvePath(location: string, from: string): string | undefined {
    const base = new URL(from, this.url);
    const target = URL.canParse(location, base.href) ? new URL(location, base.href) : undefined;
    return target?.origin === this.url.origin ? target.pathname + target.search : undefined;
  }

  destroyOpen(): void {
    for (const request of this.open) request.destroy();
  }

  /** Resolves when all sockets are closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.destroyOpen();
    const closed = [...this.#sockets].map(
      (socket) => new Promise((resolve) => socket.once('close', resolve)),
    );
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  /**
   * Creates the agent of one pool. A server may close an idle socket while a request is written to it; it is then unknown whether the
   * server has read the request, and a call must not be sent twice. Therefore idle sockets are closed after 4 s, because Node, uvicorn and
   * others close theirs after 5 s. Node's agent closes them earlier if the server's `Keep-Alive: timeout` is shorter. The most recently
   * used socket is used first.
   */
  #agent(maxSockets: number, idleMs: number): HttpAgent {
    const options: AgentOptions = {
      keepAlive: true,
      keepAliveMsecs: PROBE_AFTER_MS,
      noDelay: true,
      scheduling: 'lifo',
      maxSockets,
      maxFreeSockets: maxSockets,
      timeout: idleMs,
    };
    const agent = this.url.protocol === 'https:' ? new HttpsAgent(options) : new HttpAgent(options);
    this.#limitConnectTime(agent);
    return agent;
  }

  /** Applies the connect timeout per socket rather than per request, which would cost a timer for every call. */
  #limitConnectTime(agent: HttpAgent): void {
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => {
      // The agent also opens sockets for destroyed requests that are still in its queue; a closed origin must not open any.
      if (this.#isClosed) {
        callback?.(new Error('The connection was closed.'), new Socket());
        return undefined;
      }
      const socket = connect(options, callback);
      if (socket === null || socket === undefined) return socket;
      this.#sockets.add(socket);
      const ready = this.url.protocol === 'https:' ? 'secureConnect' : 'connect';
      const timer = setTimeout(() => {
        const error = new Error(`No connection within ${this.#connectTimeoutMs} ms.`);
        socket.destroy(Object.assign(error, { code: 'ETIMEDOUT', syscall: 'connect' }));
      }, this.#connectTimeoutMs);
      socket.once(ready, () => clearTimeout(timer));
      socket.once('close', () => {
        clearTimeout(timer);
        this.#sockets.delete(socket);
      });
      return socket;
    };
  }
}
