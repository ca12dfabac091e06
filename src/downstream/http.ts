import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Admission, Refusal, Verdict } from '../auth/downstream/verdict.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import type { Logger } from '../observe/log.ts';
import { sendEmpty, sendJson } from '../wire/http/http-server.ts';
import { Admitted } from './door/admitted.ts';
import { PREFLIGHT, crossOrigin } from './door/cross-origin.ts';
import { openDoor } from './door/door.ts';
import type { Door } from './door/door.ts';
import { Entering, isMcpPath } from './door/entering.ts';
import { nothing, plain } from './door/plain-replies.ts';
import { RefusalLog } from './door/refusal-log.ts';
import { servePage } from './door/web-pages.ts';
import { hostCheck } from './host-check.ts';
import type { HostCheck } from './host-check.ts';
import { refuse } from './inbound.ts';
import type { Arriving, EndpointDeps, Inbound } from './inbound.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { OpenResponses } from './open-responses.ts';
import type { Connect } from './sessions/kept-session.ts';
import { openSessions } from './sessions/open-sessions.ts';
import type { KeepingOptions } from './sessions/open-sessions.ts';
import { SseEndpoint } from './sse-endpoint.ts';

export interface RouteOptions extends KeepingOptions {
  readonly connect: Connect;
  /** Whether a server of that name can be served alone to this caller. */
  readonly hasServer?: (name: string, caller: Caller) => boolean;
  readonly hasProfile?: (name: string) => boolean;
  /** Who may come in; whoever is on this machine unless told. */
  readonly door?: Door;
  readonly publicUrl?: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxBodyBytes: number;
  readonly log: Logger;
  readonly isReady: () => boolean;
  /** What `/metrics` answers; undefined where it is not served. */
  readonly metricsText?: (() => string | undefined) | undefined;
  readonly now?: () => number;
  /** The pace of comments on quiet streams and of looking for idle sessions. */
  readonly keepAliveMs?: number;
  readonly maxBufferedBytes?: number;
  /** How long a request of an older client waits for that client to resume a broken stream. */
  readonly resumeMs?: number;
}

export type HttpSettings = Pick<
  RouteOptions,
  'publicUrl' | 'allowedHosts' | 'allowedOrigins' | 'maxSessions' | 'sessionIdleMs' | 'maxBodyBytes'
>;

export interface McpRoutes extends AsyncDisposable {
  /** How many clients with a session there are. */
  readonly sessions: number;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Everything is served as before, but whoever asks is told that this ends soon. */
  retire(): void;
  /** New requests are refused from now on, those under way go on. */
  stopAccepting(): void;
  /** Other limits, and other names of ours, from now on. */
  adjust(settings: HttpSettings): void;
  /** Ends every session and every open response. */
  endAll(reason: string): void;
}

const MEBIBYTE = 1024 * 1024;
const MESSAGES_PATH = '/messages';
/** Enough for what was written to reach a client that reads. */
const FLUSH_MS = 250;
/** Clients try again after a second or a few. */
const RESUME_MS = 15_000;
/** Everything that MCP clients may ask over HTTP. */
export function mcpRoutes(options: RouteOptions): McpRoutes {
  const { connect, log, maxBodyBytes, maxSessions, sessionIdleMs: idleMs, now = Date.now } = options;
  const open = new OpenResponses();
  const { resumeMs = RESUME_MS } = options;
  const isShared = (): boolean => options.door !== undefined && options.door.isOpen !== true;
  const sessions = openSessions(options, { connect, maxSessions, isShared, idleMs, resumeMs, now, log });
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
  #check: HostCheck;
  readonly #isReady: () => boolean;
  readonly #door: Door;
  readonly #entering: Entering;
  readonly #admitted: Admitted;
  readonly #refusals: RefusalLog;
  readonly #gone: Disposable | undefined;
  readonly #metricsText: () => string | undefined;
  readonly #mcp: McpEndpoint;
  readonly #sse: SseEndpoint;
  readonly #timer: NodeJS.Timeout;
  #isAccepting = true;
  #isRetired = false;
  #closing: Promise<void> | undefined;

  constructor(options: RouteOptions, deps: EndpointDeps) {
    this.#deps = deps;
    this.#check = hostCheck(options);
    this.#isReady = options.isReady;
    this.#metricsText = options.metricsText ?? (() => undefined);
    const { log, now = Date.now, door = openDoor } = options;
    const { hasServer = () => false, hasProfile = () => false } = options;
    this.#door = door;
    this.#entering = new Entering({ hasServer, hasProfile });
    this.#admitted = new Admitted(now);
    this.#refusals = new RefusalLog({ log, now, onRefused: door.onRefused });
    this.#gone = door.events?.on('gone', (caller) => this.#shutOut(caller));
    this.#mcp = new McpEndpoint(deps);
    this.#sse = new SseEndpoint(deps, MESSAGES_PATH);
    this.#timer = setInterval(() => this.#tick(), options.keepAliveMs ?? 15_000).unref();
  }

  get sessions(): number {
    return this.#deps.sessions.size;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url ?? '';
    const queryAt = target.indexOf('?');
    const path = queryAt < 0 ? target : target.slice(0, queryAt);
    // The next request of this client is to come over a new connection, and so to another gateway.
    if (this.#isRetired) response.shouldKeepAlive = false;
    switch (path) {
      case '/healthz':
        return plain(response, 200, 'ok');
      case '/readyz': {
        const isReady = this.#isAccepting && !this.#isRetired && this.#isReady();
        return plain(response, isReady ? 200 : 503, isReady ? 'ready' : 'not ready');
      }
      default:
        return this.#enter(request, response, path);
    }
  }

  retire(): void {
    this.#isRetired = true;
  }

  stopAccepting(): void {
    this.#isAccepting = false;
  }

  adjust(settings: HttpSettings): void {
    this.#check = hostCheck(settings);
    const { maxSessions, sessionIdleMs: idleMs, maxBodyBytes } = settings;
    this.#deps.sessions.adjust({ maxSessions, idleMs });
    this.#deps.maxBodyBytes = maxBodyBytes;
  }

  endAll(text: string): void {
    const reason = new GatewayError('CALL_CANCELLED', text);
    this.#deps.sessions.endAll(reason);
    this.#deps.open.endAll(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #enter(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { origin, host } = request.headers;
    const isMcp = isMcpPath(path);
    const isMetrics = path === '/metrics' && this.#metricsText() !== undefined;
    const isAdmin = !isMcp && this.#door.admin?.takes(path) === true;
    if (!isMcp && !isMetrics && !isAdmin && !this.#isPage(path, host)) return nothing(response);
    // No page may read these across origins.
    const headers = isAdmin || isMetrics ? [] : crossOrigin(this.#check.readableBy(origin));
    const inbound: Arriving = { request, response, path, headers };
    const problem = this.#check.problem(host, origin, request.socket);
    if (problem !== undefined) return this.#forbid(inbound, problem);
    if (isAdmin) return this.#door.admin?.handle(request, response);
    if (request.method === 'OPTIONS') {
      return sendEmpty(response, 204, headers.length === 0 ? [] : [...headers, ...PREFLIGHT]);
    }
    if (!this.#isAccepting) {
      const closing = [...headers, 'Retry-After', '1', 'Connection', 'close'];
      return refuse({ ...inbound, headers: closing }, 503, 'The gateway is shutting down.');
    }
    if (isMcp || isMetrics) this.#authenticate(inbound);
    else this.#page(inbound);
  }

  #authenticate(inbound: Arriving): void {
    const { request, path } = inbound;
    const { headers, rawHeaders, socket } = request;
    const verdict = this.#door.authenticate({ headers, rawHeaders, path, socket });
    if (!(verdict instanceof Promise)) return this.#judged(inbound, verdict);
    verdict.then(
      (later) => this.#judged(inbound, later),
      (error: unknown) => {
        this.#deps.log.error('Finding out who asks failed.', { error: String(error) });
        refuse(inbound, 500, 'It cannot be found out who asks.');
      },
    );
  }

  #judged(inbound: Arriving, verdict: Verdict): void {
    const { path, request, response, headers } = inbound;
    if (response.destroyed) return;
    if ('refusal' in verdict) return this.#refused(inbound, verdict.refusal);
    const { admission } = verdict;
    if (path === '/metrics') return this.#metrics(inbound, admission);
    const caller = this.#entering.at(path, admission);
    if (caller === undefined) return nothing(response, headers);
    if (this.#door.isOpen !== true) this.#admitted.add(response, admission, request.method === 'GET');
    const entered: Inbound = { request, response, path, headers, caller };
    if (path === '/sse') this.#sse.stream(entered);
    else if (path === MESSAGES_PATH) this.#sse.message(entered, (request.url ?? '').slice(path.length));
    else this.#mcp.handle(entered);
  }

  #refused(inbound: Arriving, refusal: Refusal): void {
    const { request, path, headers } = inbound;
    const { status, message } = refusal;
    this.#refusals.note(message, request.socket.remoteAddress);
    const challenge = this.#door.resource.challenge(refusal, path, request.headers.host ?? '');
    const more = status === 503 ? ['Retry-After', '5'] : ['WWW-Authenticate', challenge];
    refuse({ ...inbound, headers: [...headers, ...more] }, status, message);
  }

  /** They are about all servers, so a caller who may see only some of them may not see these. */
  #metrics({ response, headers }: Arriving, { isBound, caller }: Admission): void {
    const text = this.#metricsText();
    if (isBound || caller.tier !== undefined || text === undefined) return nothing(response, headers);
    plain(response, 200, text);
  }

  #isPage(path: string, host = ''): boolean {
    return this.#door.pages?.takes(path) === true || this.#door.resource.metadata(path, host) !== undefined;
  }

  #page(inbound: Arriving): void {
    const { request, response, path, headers } = inbound;
    const metadata = this.#door.resource.metadata(path, request.headers.host ?? '');
    const { pages } = this.#door;
    if (metadata === undefined) {
      if (pages !== undefined) servePage(pages, { request, response, path, headers, log: this.#deps.log });
    } else if (request.method !== 'GET') refuse(inbound, 405, 'Only GET is possible here.');
    else sendJson(response, 200, { body: JSON.stringify(metadata), headers });
  }

  #shutOut(caller: string): void {
    const reason = new GatewayError('CALL_CANCELLED', 'The credentials of the caller were revoked.');
    this.#deps.sessions.endOf(caller, reason);
    this.#admitted.cut(caller);
  }

  #forbid(inbound: Arriving, problem: 'host' | 'origin'): void {
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
    this.#admitted.sweep();
  }

  async #close(): Promise<void> {
    this.#isAccepting = false;
    clearInterval(this.#timer);
    this.#gone?.[Symbol.dispose]();
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is shutting down.');
    this.#deps.sessions.endAll(reason);
    this.#deps.sessions.line?.[Symbol.dispose]();
    await this.#deps.open.close(reason, FLUSH_MS);
  }
}
