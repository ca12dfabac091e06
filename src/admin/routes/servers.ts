import type { UpstreamName } from '../../model/ids.ts';
import type { AdminDeps } from '../deps.ts';
import { route } from '../route.ts';
import type { AdminApp } from '../route.ts';
import { allServers, oneServer } from '../shown/server-shown.ts';

/** The servers and what an operator does with them. */
export function serverRoutes(app: AdminApp, deps: AdminDeps): void {
  const { servers, quarantine } = deps.gateway;
  // The casts only ask maps.
  const named = (params: Readonly<Record<string, string>>): UpstreamName => params['name'] as UpstreamName;
  route(app, 'GET /api/servers', async () => {
    await quarantine.noticeServers();
    return allServers(deps);
  });
  route(app, 'POST /api/servers/:name/restart', async ({ params }) => {
    await deps.restartElsewhere(named(params));
    await servers.restart(named(params));
    return oneServer(deps, named(params));
  });
  route(app, 'POST /api/servers/:name/refresh', async ({ params }) => {
    await servers.refresh(named(params));
    return oneServer(deps, named(params));
  });
  route(app, 'POST /api/refresh', async () => {
    // What fails is in the state of each.
    await Promise.allSettled(servers.names().map((name) => servers.refresh(name)));
    return allServers(deps);
  });
}
