import { Hono } from 'hono';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import type { AdminDeps } from './deps.ts';
import { problemOf } from './problem.ts';
import { jsonResponse } from './route.ts';
import type { AdminEnv } from './route.ts';
import { approvalRoutes } from './routes/approvals.ts';
import { auditRoutes } from './routes/audit.ts';
import { callRoutes } from './routes/calls.ts';
import { entryRoutes } from './routes/entries.ts';
import { explainRoutes } from './routes/explain.ts';
import { gatewayRoutes } from './routes/gateway.ts';
import { keyRoutes } from './routes/keys.ts';
import { serverRoutes } from './routes/servers.ts';
import { lockRoutes } from './routes/lock.ts';
import { signInRoutes } from './routes/sign-ins.ts';

export interface AdminRoutes {
  /** The caller is established by whoever takes the request in. */
  fetch(request: Request, caller: Caller): Promise<Response>;
}

/** The API that the command line and the dashboard use, callable without a socket. */
export function adminRoutes(deps: AdminDeps): AdminRoutes {
  const app = new Hono<AdminEnv>();
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
  ])
    add(app, deps);
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
  return { fetch: async (request, caller) => app.fetch(request, { caller }) };
}
