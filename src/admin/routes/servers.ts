import type { UpstreamName } from '../../model/ids.ts';
import { knownServer } from '../calling/known-server.ts';
import type { AdminDeps } from '../deps.ts';
import { route } from '../route.ts';
import type { AdminApp } from '../route.ts';
import { allServers, foreseenServers, oneServer } from '../shown/server-shown.ts';

/** The servers and what an operator does with them. */
export function serverRoutes(app: AdminApp, deps: AdminDeps): void {
  const { servers } = deps.gateway;
  const named = (params: Readonly<Record<string, string>>): UpstreamName =>
    knownServer(deps, params['name'] ?? '');
  route(app, 'GET /api/servers', () => foreseenServers(deps));
  route(app, 'POST /api/servers/:name/restart', async ({ params }) => {
    const name = named(params);
    await deps.restartElsewhere(name);
    await servers.restart(name);
    return oneServer(deps, name);
  });
  route(app, 'POST /api/servers/:name/refresh', async ({ params }) => {
    const name = named(params);
    await servers.refresh(name, 'anew');
    return oneServer(deps, name);
  });
  route(app, 'POST /api/refresh', async () => {
    // What fails is in the status of each.
    await Promise.allSettled(servers.names().map((name) => servers.refresh(name)));
    return allServers(deps);
  });
}
