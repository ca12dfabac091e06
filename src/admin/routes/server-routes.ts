import type { UpstreamName } from '../../core/ids.ts';
import { addRoute } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { requireServer } from '../calls/find-entry.ts';
import { presentCheckedServers, presentServer, presentServers } from '../presenters/present-servers.ts';

/** Adds the routes to list, restart and refresh servers. */
export function addServerRoutes(app: AdminApp, deps: AdminDeps): void {
  const { servers } = deps.gateway;
  const serverName = (params: Readonly<Record<string, string>>): UpstreamName =>
    requireServer(deps, params['name'] ?? '');
  addRoute(app, 'GET /api/servers', () => presentCheckedServers(deps));
  addRoute(app, 'POST /api/servers/:name/restart', async ({ params }) => {
    const name = serverName(params);
    await deps.restartOnOwner(name);
    await servers.restart(name);
    return presentServer(deps, name);
  });
  addRoute(app, 'POST /api/servers/:name/refresh', async ({ params }) => {
    const name = serverName(params);
    await servers.refresh(name, 'anew');
    return presentServer(deps, name);
  });
  addRoute(app, 'POST /api/refresh', async () => {
    // Failures are ignored here, because the status of each server contains them.
    await Promise.allSettled(servers.names().map((name) => servers.refresh(name)));
    return presentServers(deps);
  });
}
