import { Hono } from 'hono';
import type { Caller } from '../core/caller.ts';
import { GatewayError, RpcError } from '../core/errors.ts';
import { eventStreamResponse, jsonResponse, readText, readRequest } from './add-route.ts';
import type { AdminApp, AdminEnv } from './add-route.ts';
import { authenticateSocket } from './admin-authentication.ts';
import type { AdminAuthentication } from './admin-authentication.ts';
import type { AdminDeps, RouteDeps } from './admin-deps.ts';
import { toAdminProblem } from './admin-problem.ts';
import { EventHub } from './events/event-hub.ts';
import { watchChanges } from './events/watch-changes.ts';
import { addAccessRoutes } from './routes/access-routes.ts';
import { addApprovalRoutes } from './routes/approval-routes.ts';
import { addAuditRoutes } from './routes/audit-routes.ts';
import { addCallRoutes } from './routes/call-routes.ts';
import { addClientRoutes } from './routes/client-routes.ts';
import { addEntryRoutes } from './routes/entry-routes.ts';
import { addExplainRoutes } from './routes/explain-routes.ts';
import { addGatewayRoutes } from './routes/gateway-routes.ts';
import { addKeyRoutes } from './routes/key-routes.ts';
import { addLockRoutes } from './routes/lock-routes.ts';
import { addManagementRoutes } from './routes/management-routes.ts';
import { addSecretRoutes } from './routes/secret-routes.ts';
import { addServerRoutes } from './routes/server-routes.ts';
import { addSessionRoutes } from './routes/session-routes.ts';
import { addSignInRoutes } from './routes/sign-in-routes.ts';
import { addStatisticsRoutes } from './routes/statistics-routes.ts';

/** The API that the command line and the dashboard use, as a function that needs no network connection. */
export interface AdminRoutes extends Disposable {
  /** The name of each route as `METHOD /path`. */
  readonly names: readonly string[];
  /** Handles a request of an authenticated caller. Without `authentication`, the request came through the local socket of the user who runs the gateway. */
  fetch(request: Request, caller: Caller, authentication?: AdminAuthentication): Promise<Response>;
}

export function createAdminRoutes(deps: AdminDeps): AdminRoutes {
  const app = new Hono<AdminEnv>();
  const { version, since } = deps;
  const hub = new EventHub({ version, startedAt: since, watch: (emit) => watchChanges(deps, emit) });
  const routeDeps: RouteDeps = { ...deps, emit: (event) => hub.emit(event) };
  for (const addRoutes of [
    addGatewayRoutes,
    addSecretRoutes,
    addServerRoutes,
    addSignInRoutes,
    addEntryRoutes,
    addExplainRoutes,
    addCallRoutes,
    addAuditRoutes,
    addKeyRoutes,
    addApprovalRoutes,
    addLockRoutes,
    addManagementRoutes,
    addSessionRoutes,
    addStatisticsRoutes,
    addAccessRoutes,
    addClientRoutes,
  ])
    addRoutes(app, routeDeps);
  addEventRoute(app, deps, hub);
  handleErrors(app, deps);
  return {
    names: app.routes.map(({ method, path }) => `${method} ${path}`),
    fetch: async (request, caller, authentication = authenticateSocket(request)) =>
      app.fetch(request, { caller, authentication }),
    [Symbol.dispose]: () => hub[Symbol.dispose](),
  };
}

function addEventRoute(app: AdminApp, { browsers }: AdminDeps, hub: EventHub): void {
  app.get('/api/events', async (context) => {
    const { authentication, query } = await readRequest(context);
    // A page that opens a new EventSource cannot set the header, so the id may also be in the query.
    const lastId = context.req.header('last-event-id') ?? readText(query, 'after');
    const { session } = authentication;
    const isAllowed = (): boolean => session === undefined || browsers.isSignedIn(session.id);
    return eventStreamResponse(hub.open({ lastId, isAllowed }));
  });
}

function handleErrors(app: AdminApp, { log }: AdminDeps): void {
  const respond = (error: unknown): Response => {
    const { status, problem } = toAdminProblem(error);
    return jsonResponse(JSON.stringify(problem), status);
  };
  app.notFound(({ req }) =>
    respond(new GatewayError('ENTRY_NOT_FOUND', `There is no route ${req.method} ${req.path}.`)),
  );
  app.onError((error) => {
    if (!(error instanceof GatewayError) && !(error instanceof RpcError))
      log.error('A request to the admin API failed unexpectedly.', { reason: error.stack ?? error.message });
    return respond(error);
  });
}
