import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Caller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import type { Logger } from '../observe/log.ts';
import { sendEmpty, sendJson } from '../wire/http-server.ts';
import { hostCheck } from './host-check.ts';
import type { HostCheck } from './host-check.ts';
import { refuse } from './inbound.ts';
import type { EndpointDeps, Inbound } from './inbound.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { OpenResponses } from './open-responses.ts';
import { Sessions } from './sessions.ts';
import type { Connect } from './sessions.ts';
import { serverAt } from './single-server.ts';
import { SseEndpoint } from './sse-endpoint.ts';

export interface RouteOptions {
  readonly connect: Connect;
  /** Whether a server of that name can be served alone. */
  readonly hasServer?: (name: string) => boolean;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxBodyBytes: number;
  readonly log: Logger;
  readonly isReady: () => boolean;
  readonly now?: () => number;
  /** The pace of comments on quiet streams and of looking for idle sessions. */
  readonly keepAliveMs?: number;
  readonly maxBufferedBytes?: number;
}

export interface McpRoutes extends AsyncDisposable {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** New requests are refused from now on, those under way go on. */
  stopAccepting(): void;
}

const MEBIBYTE = 1024 * 1024;
const MESSAGES_PATH = '/messages';
/** Enough for what was written to reach a client that reads. */
const FLUSH_MS = 250;
/** Nobody has to prove who they are yet, which is why only loopback is served. */
const ANYBODY: Caller = { id: 'http', via: 'http', profile: 'default' };
const PREFLIGHT = [
  'Access-Control-Allow-Methods',
  'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  // The star stands for Mcp-Param-*; it does not cover Authorization, and old browsers do not know it.
  'Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, *',
  'Access-Control-Max-Age',
  '600',
];

/** Everything that MCP clients may ask over HTTP. */
export function mcpRoutes(options: RouteOptions): McpRoutes {
  const { connect, log, maxBodyBytes, maxSessions, sessionIdleMs: idleMs, now = Date.now } = options;
  const open = new OpenResponses();
  const sessions = new Sessions({ connect, maxSessions, idleMs, now, log });
  const limits = {
    maxBufferedBytes: options.maxBufferedBytes ?? 16 * MEBIBYTE,
    slow: (bufferedBytes: number) => {
      log.warn('A client did not read its answers and was cut off.', { bufferedBytes });
    },
  };
  return new Routes(options, { connect, sessions, open, limits, maxBodyBytes, log });
}

class Routes implements McpRoutes {
  readonly #deps: EndpointDeps;
  readonly #check: HostCheck;
  readonly #isReady: () => boolean;
  readonly #hasServer: (name: string) => boolean;
  readonly #mcp: McpEndpoint;
  readonly #sse: SseEndpoint;
  readonly #timer: NodeJS.Timeout;
  #isAccepting = true;
  #closing: Promise<void> | undefined;

  constructor(options: RouteOptions, deps: EndpointDeps) {
    this.#deps = deps;
    this.#check = hostCheck(options);
    this.#isReady = options.isReady;
    this.#hasServer = options.hasServer ?? (() => false);
    this.#mcp = new McpEndpoint(deps);
    this.#sse = new SseEndpoint(deps, MESSAGES_PATH);
    this.#timer = setInterval(() => this.#tick(), options.keepAliveMs ?? 15_000).unref();
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url ?? '';
    const queryAt = target.indexOf('?');
    const path = queryAt < 0 ? target : target.slice(0, queryAt);
    switch (path) {
      case '/mcp':
      case '/sse':
      case MESSAGES_PATH:
        return this.#enter(request, response, path);
      case '/healthz':
        return plain(response, 200, 'ok');
      case '/readyz': {
        const isReady = this.#isAccepting && this.#isReady();
        return plain(response, isReady ? 200 : 503, isReady ? 'ready' : 'not ready');
      }
      default: {
        const server = serverAt(path);
        if (server !== undefined && this.#hasServer(server)) return this.#enter(request, response, path);
        return sendJson(response, 404, {
          text: '{"error":"There is nothing here; MCP is at /mcp."}',
          headers: [],
        });
      }
    }
  }

  stopAccepting(): void {
    this.#isAccepting = false;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #enter(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { origin, host } = request.headers;
    const inbound: Inbound = { request, response, path, caller: ANYBODY, headers: this.#crossOrigin(origin) };
    const problem = this.#check.problem(host, origin);
    if (problem !== undefined) return this.#forbid(inbound, problem);
    if (request.method === 'OPTIONS') {
      return sendEmpty(response, 204, origin === undefined ? [] : [...inbound.headers, ...PREFLIGHT]);
    }
    if (!this.#isAccepting) {
      const headers = [...inbound.headers, 'Retry-After', '1', 'Connection', 'close'];
      return refuse({ ...inbound, headers }, 503, 'The gateway is shutting down.');
    }
    if (path === '/sse') this.#sse.stream(inbound);
    else if (path === MESSAGES_PATH) this.#sse.message(inbound, (request.url ?? '').slice(path.length));
    else this.#mcp.handle(inbound);
  }

  #crossOrigin(origin: string | undefined): readonly string[] {
    const reader = this.#check.readableBy(origin);
    if (reader === undefined) return [];
    return [
      'Access-Control-Allow-Origin',
      reader,
      'Access-Control-Expose-Headers',
      'Mcp-Session-Id, MCP-Protocol-Version',
      'Vary',
      'Origin',
    ];
  }

  #forbid(inbound: Inbound, problem: 'host' | 'origin'): void {
    const { host, origin } = inbound.request.headers;
    this.#deps.log.warn('A request was refused because of its Host or Origin.', {
      problem,
      host: host?.slice(0, 200),
      origin: origin?.slice(0, 200),
    });
    refuse(inbound, 403, `This ${problem === 'host' ? 'Host' : 'Origin'} is not allowed.`);
  }

  #tick(): void {
    this.#deps.open.tick();
    this.#deps.sessions.sweep();
  }

  async #close(): Promise<void> {
    this.#isAccepting = false;
    clearInterval(this.#timer);
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is shutting down.');
    this.#deps.sessions.endAll(reason);
    await this.#deps.open.close(reason, FLUSH_MS);
  }
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, ['Content-Type', 'text/plain', 'Content-Length', String(text.length)]);
  response.end(text);
}
