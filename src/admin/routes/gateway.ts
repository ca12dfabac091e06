import type { AdminHealth } from '../contract.ts';
import type { AdminDeps } from '../deps.ts';
import { route } from '../route.ts';
import type { AdminApp } from '../route.ts';
import { allServers } from '../server-shown.ts';

/** The gateway as a whole. */
export function gatewayRoutes(app: AdminApp, deps: AdminDeps): void {
  const health = (): AdminHealth => ({ version: deps.version, pid: deps.pid });
  route(app, 'GET /api/health', () => health());
  route(app, 'GET /api/status', ({ caller }) => {
    const { file, warnings, value } = deps.config();
    const url = deps.url();
    return {
      ...health(),
      since: deps.since,
      kind: deps.kind,
      config: file,
      ...(url !== undefined && { url }),
      clients: deps.clients(),
      warnings: warnings.map(
        ({ file: where, line, column, message }) => `${where}:${line}:${column}: ${message}`,
      ),
      tools: deps.gateway.view(caller).tools.length,
      ...(value.audit.enabled && { audit: deps.audit.health }),
      held: { ...deps.gateway.quarantine.counts, calls: deps.gateway.waiting.list().length },
      servers: allServers(deps),
    };
  });
  route(app, 'POST /api/stop', () => {
    // The answer leaves first.
    setImmediate(deps.stop);
    return { stopping: true };
  });
}
