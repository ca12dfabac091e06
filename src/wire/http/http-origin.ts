import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { AgentOptions, ClientRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import { Crowd } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { BaseHeaders } from './http-headers.ts';
import type { HeaderSource } from './http-headers.ts';

export interface HttpOriginOptions {
  readonly url: string;
  readonly headers: HeaderSource;
  readonly maxMessageBytes: number;
  /** Name lookup, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** Requests beyond this wait for a socket. */
  readonly maxSockets?: number;
  /** How long an unused socket is kept. */
  readonly idleSocketMs?: number;
}

/**
 * `call` carries what waits for an answer. `side` is for short messages that must get through even when calls hold
 * every socket: an answer to a server's question may be what such a call is waiting for.
 */
export type Lane = 'call' | 'side';

const SIDE_SOCKETS = 16;
/** With the ten probes a second apart that Node sets, a peer that vanished is noticed after 25 s. */
const PROBE_AFTER_MS = 15_000;

/** The sockets to one server, and everything that is open on them. */
export class HttpOrigin {
  readonly url: URL;
  readonly headers: BaseHeaders;
  readonly maxMessageBytes: number;
  /** What `close` has to end. */
  readonly open = new Crowd<Member & { destroy(): void }>();
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

  /** Throws where a header cannot be written. */
  request(options: {
    readonly method: string;
    readonly path: string;
    readonly headers: readonly string[];
    readonly lane: Lane;
  }): ClientRequest {
    return this.#request({
      agent: options.lane === 'call' ? this.#call : this.#side,
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

  /** The path of a redirect's target, unless it leads elsewhere: our headers are meant for this origin only. */
  pathOf(location: string, from: string): string | undefined {
    const base = new URL(from, this.url);
    const target = URL.canParse(location, base.href) ? new URL(location, base.href) : undefined;
    return target?.origin === this.url.origin ? target.pathname + target.search : undefined;
  }

  destroyOpen(): void {
    for (const exchange of this.open) exchange.destroy();
  }

  /** Resolves when no socket is left. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.destroyOpen();
    const gone = [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(gone);
  }

  /**
   * A server may close an idle socket at the moment we write to it. Whether it still read the request is then
   * unknowable, and a call must not be sent twice, so the moment is avoided: idle sockets go after 4 s, earlier where
   * the server's `Keep-Alive: timeout` says so (Node's agent reads it), before the 5 s after which Node, uvicorn and
   * others close theirs; and the most recently used socket is taken first.
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
    this.#boundConnecting(agent);
    return agent;
  }

  /** Here and not at the request, so that a timer is paid per socket and not per call. */
  #boundConnecting(agent: HttpAgent): void {
    const connect = agent.createConnection.bind(agent);
    agent.createConnection = (options, callback) => {
      // An agent opens sockets for requests still in its queue, even those that were destroyed.
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
