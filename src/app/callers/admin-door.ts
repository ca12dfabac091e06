import type { IncomingMessage, ServerResponse } from 'node:http';
import { problemOf } from '../../admin/problem.ts';
import { DASHBOARD } from '../../admin/proof.ts';
import type { Proof } from '../../admin/proof.ts';
import type { AdminRoutes } from '../../admin/routes.ts';
import { isOwnPage, sessionCookie, tokenIn } from '../../admin/sessions/session-cookie.ts';
import type { Place } from '../../admin/sessions/session-cookie.ts';
import { PAGE_HEADERS } from '../../admin/site/site-files.ts';
import type { SiteFiles } from '../../admin/site/site-files.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { AuditTrail } from '../../observe/audit/audit-trail.ts';
import type { Logger } from '../../observe/log.ts';
import type { OperatorAccess } from './operator-access.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;
/** Enough for a key. */
const MAX_UNKNOWN_BODY_BYTES = 4096;
const ENTER = '/enter';
const PROGRAM: Caller = { id: 'admin', via: 'admin', profile: 'default' };

interface DoorOptions {
  readonly access: OperatorAccess;
  readonly site: SiteFiles;
  readonly admin: () => Promise<AdminRoutes>;
  /** Where browsers find us through a proxy. */
  readonly publicUrl: () => string | undefined;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly log: Logger;
}

type Listener = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/**
 * The pages of the dashboard and `/api` over TCP, after Host and Origin were checked. Whoever shows the admin key is let in, and
 * browsers with a session; keys of callers open nothing here.
 */
export class AdminDoor {
  readonly #options: DoorOptions;
  readonly #proofs = new WeakMap<IncomingMessage, Proof>();
  #listening: Promise<Listener> | undefined;

  constructor(options: DoorOptions) {
    this.#options = options;
  }

  takes(path: string): boolean {
    return path.startsWith('/api/') || path === ENTER || this.#options.site.has(path);
  }

  handle(request: IncomingMessage, response: ServerResponse): void {
    const [path = '', query = ''] = (request.url ?? '').split('?', 2);
    const place = this.#placeOf(request);
    if (path.startsWith('/api/')) return this.#watch(response, this.#api(request, response, { path, place }));
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(
        response,
        new GatewayError('ENTRY_NOT_FOUND', 'Only GET is possible here; MCP is at /mcp.'),
      );
    if (path === ENTER) return this.#watch(response, this.#enter(request, response, { place, query }));
    this.#page(request, response, path);
  }

  /** Who cannot be recognised while the database is away is told so. */
  #watch(response: ServerResponse, work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (error instanceof GatewayError) return refuse(response, error);
      this.#options.log.error('The admin API failed.', { reason: String(error) });
      refuse(response, new GatewayError('INVARIANT', 'Internal error.'));
    });
  }

  async #api(
    request: IncomingMessage,
    response: ServerResponse,
    at: { path: string; place: Place },
  ): Promise<void> {
    const proof = await this.#proofOf(request, at);
    const refusal = proof === undefined ? NOT_LET_IN : bodyProblem(request, proof);
    if (proof === undefined || refusal !== undefined) return refuse(response, refusal ?? NOT_LET_IN);
    this.#proofs.set(request, proof);
    this.#listening ??= this.#load();
    try {
      const listener = await this.#listening;
      await listener(request, response);
    } catch (error) {
      this.#listening = undefined;
      throw new Error(String(error), { cause: error });
    }
  }

  async #proofOf(
    request: IncomingMessage,
    { path, place }: { path: string; place: Place },
  ): Promise<Proof | undefined> {
    const { access } = this.#options;
    const { authorization } = request.headers;
    if (authorization !== undefined)
      return access.isKey(authorization.replace(/^Bearer /i, ''))
        ? { by: 'key', isPerson: false, place }
        : undefined;
    if (!isOwnPage(request, place)) return undefined;
    const token = tokenIn(request.headers, place);
    const session = token === undefined ? undefined : await access.find(token);
    if (session !== undefined) return { by: 'session', isPerson: true, session, place };
    return path === '/api/session' && request.method === 'POST'
      ? { by: 'nobody', isPerson: false, place }
      : undefined;
  }

  /** The one GET that changes something: nobody can know a ticket whom it was not given to. */
  async #enter(
    request: IncomingMessage,
    response: ServerResponse,
    { place, query }: { place: Place; query: string },
  ): Promise<void> {
    const { access } = this.#options;
    // Browsers may fetch ahead what a person has not opened yet.
    const isEarly = /prefetch/i.test(
      String(request.headers['sec-purpose'] ?? request.headers['purpose'] ?? ''),
    );
    const ticket = new URLSearchParams(query).get('ticket') ?? '';
    const opened = request.method === 'GET' && !isEarly ? await access.enter(ticket) : undefined;
    if (opened !== undefined)
      this.#options.audit.record({
        kind: 'sign-in',
        action: 'sign-in',
        caller: DASHBOARD,
        details: { by: 'link' },
      });
    const token = tokenIn(request.headers, place);
    const isInside =
      opened !== undefined || (token !== undefined && (await access.find(token)) !== undefined);
    const cookie = opened === undefined ? [] : ['Set-Cookie', sessionCookie(place, opened.token)];
    const headers = [...PAGE_HEADERS, 'Cache-Control', 'no-store', ...cookie];
    const page = pageIn(query);
    if (isInside) response.writeHead(303, [...headers, 'Location', page, 'Content-Length', '0']).end();
    else
      response
        .writeHead(403, [...headers, 'Content-Type', 'text/plain; charset=utf-8'])
        .end('This link was used already, or is too old. Make another one with: trunkline dashboard\n');
  }

  #page(request: IncomingMessage, response: ServerResponse, path: string): void {
    const file = this.#options.site.get(path);
    if (file === undefined)
      return refuse(response, new GatewayError('ENTRY_NOT_FOUND', 'There is no such page.'));
    if (request.headers['if-none-match'] === file.tag)
      return void response.writeHead(304, [...file.headers]).end();
    response.writeHead(200, [...file.headers, 'Content-Length', String(file.body.length)]);
    response.end(request.method === 'HEAD' ? undefined : file.body);
  }

  /** Behind a proxy with TLS the browser knows us by another name. */
  #placeOf({ headers }: IncomingMessage): Place {
    const host = (headers.host ?? '').toLowerCase();
    const publicUrl = this.#options.publicUrl();
    const known = publicUrl === undefined ? undefined : new URL(publicUrl);
    const origin = known?.host === host ? known.origin : `http://${host}`;
    // As the browser knows it: gateways behind one balancer may listen at different ones.
    return { origin, port: /:(\d{1,5})$/.exec(host)?.[1] ?? '80' };
  }

  async #load(): Promise<Listener> {
    const [{ getRequestListener }, routes] = await Promise.all([
      import('@hono/node-server'),
      this.#options.admin(),
    ]);
    return getRequestListener((request, env) => {
      const proof = this.#proofs.get((env as { incoming: IncomingMessage }).incoming); // Of HTTP/1, which is all we speak.
      if (proof === undefined) throw new GatewayError('INVARIANT', 'Nobody has looked who asks.');
      return routes.fetch(request, proof.by === 'session' ? DASHBOARD : PROGRAM, proof);
    });
  }
}

const NOT_LET_IN = new GatewayError(
  'CREDENTIALS_REFUSED',
  'Sign in: open the link that `trunkline dashboard` makes, or send "Authorization: Bearer" with the key in run/admin.key of the state folder.',
);

/** Whoever reads a body reads it whole. */
function bodyProblem({ headers }: IncomingMessage, { by }: Proof): GatewayError | undefined {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  const most = by === 'nobody' ? MAX_UNKNOWN_BODY_BYTES : MAX_BODY_BYTES;
  if (encoding === undefined && Number(length ?? 0) <= most) return undefined;
  return new GatewayError('USAGE', `A body needs a Content-Length of at most ${most} bytes.`);
}

function refuse(response: ServerResponse, error: GatewayError): void {
  if (response.headersSent || response.destroyed) return;
  const { status, problem } = problemOf(error);
  const text = JSON.stringify(problem);
  response.writeHead(status, [
    ...['Content-Type', 'application/json', 'Content-Length', String(Buffer.byteLength(text))],
    ...['Cache-Control', 'no-store', 'X-Content-Type-Options', 'nosniff'],
    ...(status === 401 ? ['WWW-Authenticate', 'Bearer realm="trunkline admin"'] : []),
  ]);
  response.end(text);
}

/** Where a link leads once it has let somebody in: a page of ours, and nowhere else. */
function pageIn(query: string): string {
  const to = new URLSearchParams(query).get('to') ?? '';
  return /^\/[a-z]{1,20}(\?[a-z]{1,20}=[\w.%-]{1,200})?$/.test(to) ? to : '/';
}
