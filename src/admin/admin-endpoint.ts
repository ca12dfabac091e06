import type { IncomingMessage, ServerResponse } from 'node:http';
import { toAdminProblem } from './admin-problem.ts';
import { DASHBOARD_CALLER } from './admin-authentication.ts';
import type { AdminAuthentication } from './admin-authentication.ts';
import type { AdminRoutes } from './admin-routes.ts';
import { isSameOriginRequest, formatSessionCookie, readSessionToken } from './sessions/session-cookie.ts';
import type { DashboardAddress } from './sessions/session-cookie.ts';
import { PAGE_HEADERS } from './site/site-files.ts';
import type { SiteFiles } from './site/site-files.ts';
import type { Caller } from '../core/caller.ts';
import { GatewayError } from '../core/errors.ts';
import type { AuditTrail } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { OperatorAccess } from './sessions/operator-access.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** The limit for a sign-in request, which contains only the admin key. */
const MAX_SIGN_IN_BODY_BYTES = 4096;
const ENTER_PATH = '/enter';
const KEY_CALLER: Caller = { id: 'admin', via: 'admin', profile: 'default' };

interface AdminEndpointOptions {
  readonly access: OperatorAccess;
  readonly site: SiteFiles;
  readonly admin: () => Promise<AdminRoutes>;
  /** Returns the address that browsers use if the gateway is behind a proxy. */
  readonly publicUrl: () => string | undefined;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly log: Logger;
}

type RequestListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * Serves the dashboard and `/api` over TCP. The listener has already checked Host and Origin. Accepts the admin key and browsers with a
 * session; the API keys of callers give no access.
 */
export class AdminEndpoint {
  readonly #options: AdminEndpointOptions;
  readonly #authentications = new WeakMap<IncomingMessage, AdminAuthentication>();
  #listener: Promise<RequestListener> | undefined;

  constructor(options: AdminEndpointOptions) {
    this.#options = options;
  }

  canHandle(path: string): boolean {
    return path.startsWith('/api/') || path === ENTER_PATH || this.#options.site.has(path);
  }

  /** Whether to respond to an unknown address with the dashboard's own 404 page, because a browser asks for a page. */
  hasNotFoundPage({ method, headers }: IncomingMessage): boolean {
    return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '') && this.#options.site.has('/');
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const address = this.#addressOf(request);
    if (path.startsWith('/api/'))
      return this.#catchErrors(response, this.#serveApi(request, response, { path, address }));
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return sendProblem(
        response,
        new GatewayError('ENTRY_NOT_FOUND', 'Only GET is possible here. MCP is served at /mcp.'),
      );
    if (path === ENTER_PATH)
      return this.#catchErrors(response, this.#redeemLink(request, response, { address, query }));
    this.#servePage(request, response, path);
  }

  /** Responds with an error if `work` rejects. Only the message of a `GatewayError` is sent; other messages may contain secrets. */
  #catchErrors(response: ServerResponse, work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (error instanceof GatewayError) return sendProblem(response, error);
      this.#options.log.error('A request to the admin API failed unexpectedly.', { reason: String(error) });
      sendProblem(response, new GatewayError('INVARIANT', 'Internal error.'));
    });
  }

  async #serveApi(
    request: IncomingMessage,
    response: ServerResponse,
    target: { readonly path: string; readonly address: DashboardAddress },
  ): Promise<void> {
    const authentication = await this.#authenticate(request, target);
    if (authentication === undefined) return sendProblem(response, NOT_SIGNED_IN);
    const problem = bodyProblem(request, authentication);
    if (problem !== undefined) return sendProblem(response, problem);
    this.#authentications.set(request, authentication);
    this.#listener ??= this.#loadListener();
    try {
      const listener = await this.#listener;
      await listener(request, response);
    } catch (error) {
      // If loading the code failed, the next request tries again.
      this.#listener = undefined;
      throw new Error(String(error), { cause: error });
    }
  }

  async #authenticate(
    request: IncomingMessage,
    { path, address }: { readonly path: string; readonly address: DashboardAddress },
  ): Promise<AdminAuthentication | undefined> {
    const { access } = this.#options;
    const { authorization } = request.headers;
    const { remoteAddress } = request.socket;
    if (authorization !== undefined)
      return access.isKey(authorization.replace(/^Bearer /i, ''))
        ? { method: 'key', isPerson: false, address, remoteAddress }
        : undefined;
    if (!isSameOriginRequest(request, address)) return undefined;
    const token = readSessionToken(request.headers, address);
    const session = token === undefined ? undefined : await access.findSession(token);
    if (session !== undefined) return { method: 'session', isPerson: true, session, address, remoteAddress };
    // Without credentials, only the sign-in itself is possible.
    return path === '/api/session' && request.method === 'POST'
      ? { method: 'none', isPerson: false, address, remoteAddress }
      : undefined;
  }

  /**
   * Signs a browser in with the ticket of a link and redirects it to the dashboard. This is the only GET with a side effect: it redeems the
   * ticket, which only the recipient of the link knows.
   */
  async #redeemLink(
    request: IncomingMessage,
    response: ServerResponse,
    { address, query }: { readonly address: DashboardAddress; readonly query: string },
  ): Promise<void> {
    const { access } = this.#options;
    // A browser may prefetch a link that the user has not opened yet.
    const isPrefetch = /prefetch/i.test(
      String(request.headers['sec-purpose'] ?? request.headers['purpose'] ?? ''),
    );
    const ticket = new URLSearchParams(query).get('ticket') ?? '';
    const session = request.method === 'GET' && !isPrefetch ? await access.redeemTicket(ticket) : undefined;
    if (session !== undefined)
      this.#options.audit.record({
        kind: 'sign-in',
        action: 'sign-in',
        caller: DASHBOARD_CALLER,
        details: { by: 'link' },
      });
    const token = readSessionToken(request.headers, address);
    const isSignedIn =
      session !== undefined || (token !== undefined && (await access.findSession(token)) !== undefined);
    const cookie = session === undefined ? [] : ['Set-Cookie', formatSessionCookie(address, session.token)];
    const headers = [...PAGE_HEADERS, 'Cache-Control', 'no-store', ...cookie];
    if (isSignedIn)
      response.writeHead(303, [...headers, 'Location', targetPage(query), 'Content-Length', '0']).end();
    else
      response
        .writeHead(403, [...headers, 'Content-Type', 'text/plain; charset=utf-8'])
        .end('This link was used already or has expired. Create another one with: trunkline dashboard\n');
  }

  #servePage(request: IncomingMessage, response: ServerResponse, path: string): void {
    const { site } = this.#options;
    const file = site.get(path);
    const notFoundPage = this.hasNotFoundPage(request) ? site.get('/') : undefined;
    if (file === undefined && notFoundPage !== undefined) {
      const { headers, body } = notFoundPage;
      return void response.writeHead(404, [...headers, 'Content-Length', String(body.length)]).end(body);
    }
    if (file === undefined)
      return sendProblem(response, new GatewayError('ENTRY_NOT_FOUND', 'This page does not exist.'));
    if (request.headers['if-none-match'] === file.tag)
      return void response.writeHead(304, [...file.headers]).end();
    response.writeHead(200, [...file.headers, 'Content-Length', String(file.body.length)]);
    response.end(request.method === 'HEAD' ? undefined : file.body);
  }

  /** Returns the address that the browser uses. Behind a proxy, it differs from the gateway's own address. */
  #addressOf({ headers }: IncomingMessage): DashboardAddress {
    const host = (headers.host ?? '').toLowerCase();
    const publicUrl = this.#options.publicUrl();
    const known = publicUrl === undefined ? undefined : new URL(publicUrl);
    const origin = known?.host === host ? known.origin : `http://${host}`;
    // The port is taken from the Host header, because gateways behind one load balancer may listen on different ports.
    return { origin, port: /:(\d{1,5})$/.exec(host)?.[1] ?? '80' };
  }

  async #loadListener(): Promise<RequestListener> {
    const [{ getRequestListener }, routes] = await Promise.all([
      import('@hono/node-server'),
      this.#options.admin(),
    ]);
    return getRequestListener((request, env) => {
      const { incoming } = env as { incoming: IncomingMessage }; // The listener serves only HTTP/1.
      const authentication = this.#authentications.get(incoming);
      if (authentication === undefined)
        throw new GatewayError('INVARIANT', 'The request was not authenticated.');
      const caller = authentication.method === 'session' ? DASHBOARD_CALLER : KEY_CALLER;
      return routes.fetch(request, caller, authentication);
    });
  }
}

const NOT_SIGNED_IN = new GatewayError(
  'CREDENTIALS_REFUSED',
  'Not signed in. Open the link of `trunkline dashboard`, or send the header "Authorization: Bearer" with the key in run/admin.key of the state folder.',
);

/** Returns an error if the length of the body is unknown or too large. The routes keep the whole body in memory. */
function bodyProblem(
  { headers }: IncomingMessage,
  { method }: AdminAuthentication,
): GatewayError | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const limit = method === 'none' ? MAX_SIGN_IN_BODY_BYTES : MAX_BODY_BYTES;
  if (encoding === undefined && Number(length ?? 0) <= limit) return undefined;
  return new GatewayError('USAGE', `A body must have a Content-Length of at most ${limit} bytes.`);
}

function sendProblem(response: ServerResponse, error: GatewayError): void {
  if (response.headersSent || response.destroyed) return;
  const { status, problem } = toAdminProblem(error);
  const text = JSON.stringify(problem);
  response.writeHead(status, [
    'Content-Type',
    'application/json',
    'Content-Length',
    String(Buffer.byteLength(text)),
    'Cache-Control',
    'no-store',
    'X-Content-Type-Options',
    'nosniff',
    ...(status === 401 ? ['WWW-Authenticate', 'Bearer realm="trunkline admin"'] : []),
  ]);
  response.end(text);
}

/** Returns the page of the dashboard that a link leads to; a link must never lead to another site. */
function targetPage(query: string): string {
  const to = new URLSearchParams(query).get('to') ?? '';
  return /^\/[a-z]{1,20}(\?[a-z]{1,20}=[\w.%-]{1,200})?$/.test(to) ? to : '/';
}
