import { Hono } from 'hono';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { AdminDeps, RouteDeps } from './deps.ts';
import { problemOf } from './problem.ts';
import { socketProof } from './proof.ts';
import type { Proof } from './proof.ts';
import { jsonResponse } from './route.ts';
import type { AdminEnv } from './route.ts';
import { accessRoutes } from './routes/access.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { auditRoutes } from './routes/audit.ts';
import { callRoutes } from './routes/calls.ts';
import { entryRoutes } from './routes/entries.ts';
import { explainRoutes } from './routes/explain.ts';
import { gatewayRoutes } from './routes/gateway.ts';
import { keyRoutes } from './routes/keys.ts';
import { numberRoutes } from './routes/numbers.ts';
import { serverRoutes } from './routes/servers.ts';
import { lockRoutes } from './routes/lock.ts';
import { manageRoutes } from './routes/manage.ts';
import { signInRoutes } from './routes/sign-ins.ts';
import { EventHub } from './events/event-hub.ts';
import { eventRoutes } from './events/event-routes.ts';
import { watchChanges } from './events/watch-changes.ts';
import { sessionRoutes } from './sessions/session-routes.ts';

export interface AdminRoutes extends Disposable {
  /** Each as `METHOD /path`. */
  readonly names: readonly string[];
  /** Caller and proof are established by whoever takes the request in; without a proof it came from this user's own socket. */
  fetch(request: Request, caller: Caller, proof?: Proof): Promise<Response>;
}

/** The API that the command line and the dashboard use, callable without a socket. */
export function adminRoutes(deps: AdminDeps): AdminRoutes {
  const app = new Hono<AdminEnv>();
  const { version, since } = deps;
  const hub = new EventHub({ version, since, watch: (emit) => watchChanges(deps, emit) });
  const tell: RouteDeps['tell'] = (event) => hub.emit(event);
  for (const add of [
    gatewayRoutes,
    serverRoutes,
    signInRoutes,
    entryRoutes,
    explainRoutes,
    callRoutes,
    auditRoutes,
    keyRoutes,
    approvalRoutes,
    lockRoutes,
    manageRoutes,
    sessionRoutes,
    numberRoutes,
    accessRoutes,
  ])
    add(app, { ...deps, tell });
  eventRoutes(app, deps, hub);
  app.notFound((context) => {
    const message = `There is no ${context.req.method} ${context.req.path} here.`;
    const { status, problem } = problemOf(new GatewayError('ENTRY_NOT_FOUND', message));
    return jsonResponse(JSON.stringify(problem), status);
  });
  app.onError((error) => {
    if (!(error instanceof GatewayError) && !(error instanceof RpcError))
      deps.log.error('A request of the admin API failed unexpectedly.', {
        reason: error.stack ?? error.message,
      });
    const { status, problem } = problemOf(error);
    return jsonResponse(JSON.stringify(problem), status);
  });
  return {
    names: app.routes.map(({ method, path }) => `${method} ${path}`),
    fetch: async (request, caller, proof = socketProof(request)) => app.fetch(request, { caller, proof }),
    [Symbol.dispose]: () => hub[Symbol.dispose](),
  };
}
