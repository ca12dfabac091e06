import type { IncomingMessage, ServerResponse } from 'node:http';

import type { AuthenticatedCaller, AuthFailure, AuthResult } from '../../auth/downstream/auth-result.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { sendEmpty, sendJson } from '../../protocol/http/http-io.ts';
import { UnsentResponses } from '../../protocol/http/sse-response.ts';
import { AuthenticatedResponses } from './authenticated-responses.ts';
import { noAuthentication } from './http-auth.ts';
import type { HttpAuth } from './http-auth.ts';
import { CallerResolver } from './caller-resolver.ts';
import { PREFLIGHT_HEADERS, corsHeaders, hostCheck } from './host-check.ts';
import type { HostCheck } from './host-check.ts';
import { sendNotFound, sendRefusal, sendText } from './http-exchange.ts';
import type { HttpExchange, EndpointDeps, AuthenticatedExchange } from './http-exchange.ts';
import { McpEndpoint } from './mcp-endpoint.ts';
import { isMcpPath } from './mcp-paths.ts';
import { OpenResponses } from './open-responses.ts';
import { servePage } from './serve-page.ts';
import { openSessions } from '../sessions/sessions.ts';
import type { SessionPersistence } from '../sessions/sessions.ts';
import type { ConnectSession } from '../sessions/session-store.ts';
import { SseEndpoint } from './sse-endpoint.ts';

export interface McpRouteOptions extends SessionPersistence {
  readonly connect: ConnectSession;
  /** Returns whether this caller can use a single server of that name. */
  readonly hasServer?: (name: string, caller: Caller) => boolean;
  readonly hasProfile?: (name: string) => boolean;
  /** Absent if callers need no credentials. */
  readonly auth?: HttpAuth;
  readonly publicUrl?: string | undefined;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly maxSessions: number;
  readonly sessionIdleMs: number;
  readonly maxBodyBytes: number;
  readonly log: Logger;
  readonly isReady: () => boolean;
  /** Returns the response of `/metrics`, or undefined if it is not served. */
  readonly metricsText?: (() => string | undefined) | undefined;
  readonly now?: () => number;
  /** The interval at which quiet streams get a comment, and idle sessions and responses with expired credentials are closed. */
  readonly keepAliveMs?: number;
  readonly maxBufferedBytes?: number;
  /** The maximum number of bytes that are buffered for all slow clients together. */
  readonly maxUnsentBytes?: number;
  /** Maximum time that a request of a legacy client waits for the client to resume its broken stream. */
  readonly resumeMs?: number;
}

export type HttpSettings = Pick<
  McpRouteOptions,
  'publicUrl' | 'allowedHosts' | 'allowedOrigins' | 'maxSessions' | 'sessionIdleMs' | 'maxBodyBytes'
>;

const MEBIBYTE = 1024 * 1024;
const MESSAGES_PATH = '/messages';
/** The time that responses have at shutdown to reach clients that still read. */
const FLUSH_MS = 250;
/** The default of `resumeMs`; clients usually reconnect within a few seconds. */
const RESUME_MS = 15_000;
/** The default of `maxUnsentBytes`. */
const MAX_UNSENT_BYTES = 256 * MEBIBYTE;

/** Creates the HTTP routes of the gateway: MCP, health, metrics, and the pages of authentication. */
export function createMcpRoutes(options: McpRouteOptions): McpRoutes {
  const { connect, log, maxBodyBytes, maxSessions, sessionIdleMs: idleMs, now = Date.now } = options;
  const { resumeMs = RESUME_MS } = options;
  const isAuthenticated = (): boolean => options.auth !== undefined && options.auth.isAnonymous !== true;
  const sessions = openSessions(options, {
    connect,
    maxSessions,
    isAuthenticated,
    idleMs,
    resumeMs,
    now,
    log,
  });
  const onSlowClient = (bufferedBytes: number): void =>
    log.warn('Disconnected a client that did not read its responses.', { bufferedBytes });
  const limits = {
    maxBufferedBytes: options.maxBufferedBytes ?? 16 * MEBIBYTE,
    onSlowClient,
    unsent: new UnsentResponses(options.maxUnsentBytes ?? MAX_UNSENT_BYTES, onSlowClient),
  };
  const open = new OpenResponses();
  return new McpRoutes(options, { connect, sessions, open, limits, maxBodyBytes, log });
}

/** Checks, authenticates and routes every HTTP request of the gateway. */
export class McpRoutes implements AsyncDisposable {
  readonly #deps: EndpointDeps;
  #hostCheck: HostCheck;
  readonly #isReady: () => boolean;
  readonly #auth: HttpAuth;
  readonly #callers: CallerResolver;
  readonly #authenticated: AuthenticatedResponses;
  readonly #authFailures: AuthFailureLog;
  readonly #revocations: Disposable | undefined;
  readonly #metricsText: () => string | undefined;
  readonly #mcp: McpEndpoint;
  readonly #sse: SseEndpoint;
  readonly #timer: NodeJS.Timeout;
  #isAccepting = true;
  #isDraining = false;
  #closing: Promise<void> | undefined;

  constructor(options: McpRouteOptions, deps: EndpointDeps) {
    this.#deps = deps;
    this.#hostCheck = hostCheck(options);
    this.#isReady = options.isReady;
    this.#metricsText = options.metricsText ?? (() => undefined);
    const { log, now = Date.now, auth = noAuthentication } = options;
    const { hasServer = () => false, hasProfile = () => false } = options;
    this.#auth = auth;
    this.#callers = new CallerResolver({ hasServer, hasProfile });
    this.#authenticated = new AuthenticatedResponses(now);
    this.#authFailures = new AuthFailureLog({ log, now, onAuthFailures: auth.onAuthFailures });
    this.#revocations = auth.events?.on('gone', (caller) => this.#endCaller(caller));
    this.#mcp = new McpEndpoint(deps);
    this.#sse = new SseEndpoint(deps, MESSAGES_PATH);
    this.#timer = setInterval(() => this.#tick(), options.keepAliveMs ?? 15_000).unref();
  }

  /** The number of clients that have a session. */
  get sessionCount(): number {
    return this.#deps.sessions.size;
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const target = request.url ?? '';
    const queryAt = target.indexOf('?');
    const path = queryAt < 0 ? target : target.slice(0, queryAt);
    // The next request of this client must use a new connection, so that a load balancer can send it to another replica.
    if (this.#isDraining) response.shouldKeepAlive = false;
    switch (path) {
      case '/healthz':
        return sendText(response, 200, 'ok');
      case '/readyz': {
        const isReady = this.#isAccepting && !this.#isDraining && this.#isReady();
        return sendText(response, isReady ? 200 : 503, isReady ? 'ready' : 'not ready');
      }
      default:
        return this.#checkRequest(request, response, path);
    }
  }

  /** Continues to serve requests, but `/readyz` reports "not ready" and connections close after each response. */
  startDraining(): void {
    this.#isDraining = true;
  }

  /** Rejects new requests from now on; requests that are running continue. */
  stopAccepting(): void {
    this.#isAccepting = false;
  }

  applySettings(settings: HttpSettings): void {
    this.#hostCheck = hostCheck(settings);
    const { maxSessions, sessionIdleMs: idleMs, maxBodyBytes } = settings;
    this.#deps.sessions.applyLimits({ maxSessions, idleMs });
    this.#deps.maxBodyBytes = maxBodyBytes;
  }

  /** Ends every session and every open response. */
  endAll(text: string): void {
    const reason = new GatewayError('CALL_CANCELLED', text);
    this.#deps.sessions.endAll(reason);
    this.#deps.open.endAll(reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #checkRequest(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { origin, host } = request.headers;
    const isMcp = isMcpPath(path);
    const isMetrics = path === '/metrics' && this.#metricsText() !== undefined;
    const { admin } = this.#auth;
    const isKnown = isMcp || isMetrics || this.#isPage(path, host);
    const isAdmin =
      !isMcp && (admin?.canHandle(path) === true || (!isKnown && admin?.hasNotFoundPage(request) === true));
    if (!isKnown && !isAdmin) return sendNotFound(response);
    // The admin API and the metrics get no CORS headers, so that web pages of other origins cannot read them.
    const headers = isAdmin || isMetrics ? [] : corsHeaders(this.#hostCheck.readableBy(origin));
    const exchange: HttpExchange = { request, response, path, headers };
    const problem = this.#hostCheck.findForbiddenHeader(host, origin, request.socket);
    if (problem !== undefined) return this.#forbid(exchange, problem);
    if (isAdmin) return this.#auth.admin?.handle(request, response);
    // The next check skips the authentication pages, because clients open them from their own web sites.
    const isForeignPage =
      origin === undefined && this.#hostCheck.isForeignPage(host, request.headers['sec-fetch-site']);
    if (isForeignPage && (isMcp || isMetrics)) return this.#forbid(exchange, 'site');
    if (request.method === 'OPTIONS') {
      return sendEmpty(response, 204, headers.length === 0 ? [] : [...headers, ...PREFLIGHT_HEADERS]);
    }
    if (!this.#isAccepting) {
      const closing = [...headers, 'Retry-After', '1', 'Connection', 'close'];
      return sendRefusal({ ...exchange, headers: closing }, 503, 'The gateway is shutting down.');
    }
    if (isMcp || isMetrics) this.#authenticate(exchange);
    else this.#servePage(exchange);
  }

  #authenticate(exchange: HttpExchange): void {
    const { request, path } = exchange;
    const { headers, rawHeaders, socket } = request;
    const result = this.#auth.authenticate({ headers, rawHeaders, path, socket });
    if (!(result instanceof Promise)) return this.#route(exchange, result);
    result.then(
      (later) => this.#route(exchange, later),
      (error: unknown) => {
        this.#deps.log.error('Authentication failed unexpectedly.', { error: String(error) });
        sendRefusal(
          exchange,
          500,
          'Authentication failed unexpectedly. The log of the gateway has the reason.',
        );
      },
    );
  }

  #route(exchange: HttpExchange, result: AuthResult): void {
    const { path, request, response, headers } = exchange;
    if (response.destroyed) return;
    if ('failure' in result) return this.#rejectCaller(exchange, result.failure);
    const { authenticated } = result;
    if (path === '/metrics') return this.#sendMetrics(exchange, authenticated);
    const caller = this.#callers.resolve(path, authenticated);
    if (caller === undefined) return sendNotFound(response, headers);
    if (this.#auth.isAnonymous !== true)
      this.#authenticated.add(response, authenticated, request.method === 'GET');
    const inbound: AuthenticatedExchange = { request, response, path, headers, caller };
    if (path === '/sse') this.#sse.openStream(inbound);
    else if (path === MESSAGES_PATH) this.#sse.receive(inbound, (request.url ?? '').slice(path.length));
    else this.#mcp.handle(inbound);
  }

  #rejectCaller(exchange: HttpExchange, failure: AuthFailure): void {
    const { request, path, headers } = exchange;
    const { status, message } = failure;
    this.#authFailures.add(message, request.socket.remoteAddress);
    const challenge = this.#auth.resource.challenge(failure, path, request.headers.host ?? '');
    const more = status === 503 ? ['Retry-After', '5'] : ['WWW-Authenticate', challenge];
    sendRefusal({ ...exchange, headers: [...headers, ...more] }, status, message);
  }

  /** Sends the metrics. They cover all servers, so a caller whose access is restricted gets 404 instead. */
  #sendMetrics({ response, headers }: HttpExchange, { isBound, caller }: AuthenticatedCaller): void {
    const text = this.#metricsText();
    if (isBound || caller.tier !== undefined || text === undefined) return sendNotFound(response, headers);
    sendText(response, 200, text);
  }

  #isPage(path: string, host = ''): boolean {
    return (
      this.#auth.pages?.canHandle(path) === true || this.#auth.resource.metadata(path, host) !== undefined
    );
  }

  #servePage(exchange: HttpExchange): void {
    const { request, response, path, headers } = exchange;
    const metadata = this.#auth.resource.metadata(path, request.headers.host ?? '');
    const { pages } = this.#auth;
    if (metadata === undefined) {
      if (pages !== undefined) servePage(pages, exchange, this.#deps.log);
    } else if (request.method !== 'GET') sendRefusal(exchange, 405, 'Only GET is possible here.');
    else sendJson(response, 200, { body: JSON.stringify(metadata), headers });
  }

  #endCaller(caller: string): void {
    const reason = new GatewayError('CALL_CANCELLED', 'The credentials of the caller were revoked.');
    this.#deps.sessions.endCaller(caller, reason);
    this.#authenticated.closeFor(caller);
  }

  #forbid(exchange: HttpExchange, problem: 'host' | 'origin' | 'site'): void {
    const { host, origin } = exchange.request.headers;
    this.#deps.log.warn('Rejected a request because of its Host or Origin header.', {
      problem,
      host: host?.slice(0, 200),
      origin: origin?.slice(0, 200),
    });
    if (problem === 'site')
      return sendRefusal(
        exchange,
        403,
        'A web page of another site sent this request without an Origin. Send it with fetch from an origin in http.allowedOrigins.',
      );
    const [header, setting] =
      problem === 'host' ? ['Host', 'http.allowedHosts'] : ['Origin', 'http.allowedOrigins'];
    sendRefusal(exchange, 403, `This ${header} is not allowed. Add it to ${setting} if it is yours.`);
  }

  #tick(): void {
    this.#deps.open.tick();
    this.#deps.sessions.endIdle();
    this.#authenticated.closeExpired();
  }

  async #close(): Promise<void> {
    this.#isAccepting = false;
    clearInterval(this.#timer);
    this.#revocations?.[Symbol.dispose]();
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is shutting down.');
    this.#deps.sessions.endAll(reason);
    this.#deps.sessions.relay?.[Symbol.dispose]();
    await this.#deps.open.close(reason, FLUSH_MS);
  }
}

/** The minimum interval between two reports of rejected callers. */
const REPORT_INTERVAL_MS = 10_000;

/** Logs rejected callers: the first at once, and at most one entry per interval after that, with the number of rejections since. */
class AuthFailureLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #onAuthFailures: HttpAuth['onAuthFailures'];
  #reportedAt = -Infinity;
  #count = 0;

  constructor(options: {
    readonly log: Logger;
    readonly now: () => number;
    readonly onAuthFailures: HttpAuth['onAuthFailures'];
  }) {
    this.#log = options.log;
    this.#now = options.now;
    this.#onAuthFailures = options.onAuthFailures;
  }

  add(message: string, remoteAddress: string | undefined): void {
    this.#count++;
    if (this.#now() - this.#reportedAt < REPORT_INTERVAL_MS) return;
    this.#reportedAt = this.#now();
    const count = this.#count;
    this.#count = 0;
    this.#log.warn('Rejected a caller.', { reason: message, remoteAddress, count });
    this.#onAuthFailures?.({ message, count });
  }
}
