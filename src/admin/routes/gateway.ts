import { readFile } from 'node:fs/promises';
import type { AdminHealth, AdminPause, AdminStatus } from '../contract/contract.ts';
import type { AdminDeps } from '../deps.ts';
import { jsonResponse, route } from '../route.ts';
import type { AdminApp } from '../route.ts';
import { foreseenServers } from '../shown/server-shown.ts';

/** The gateway as a whole. */
export function gatewayRoutes(app: AdminApp, deps: AdminDeps): void {
  const { audit, pause } = deps;
  const health = (): AdminHealth => ({ version: deps.version, pid: deps.pid });
  route(app, 'GET /api/health', () => health());
  app.get('/api/openapi.json', async () => jsonResponse(await readFile(deps.openapi, 'utf8')));
  route(app, 'GET /api/status', async ({ caller }) => {
    const servers = await foreseenServers(deps);
    const { counts, problem } = deps.gateway.quarantine;
    const { file, warnings, value } = deps.config();
    const url = deps.url();
    const fleet = deps.fleet();
    return {
      ...health(),
      since: deps.since,
      kind: deps.kind,
      config: file,
      ...(url !== undefined && { url }),
      clients: deps.clients(),
      ...pauseShown(deps),
      warnings: warnings.map(
        ({ file: where, line, column, message }) => `${where}:${line}:${column}: ${message}`,
      ),
      ...configShown(deps),
      ...(fleet !== undefined && { fleet }),
      tools: deps.gateway.view(caller).tools.length,
      ...(value.audit.enabled && { audit: deps.audit.health }),
      held: {
        ...counts,
        calls: deps.gateway.waiting.list().length,
        ...(problem !== undefined && { problem }),
      },
      servers,
    };
  });
  route(app, 'POST /api/pause', async ({ caller }) => {
    await pause.begin();
    audit.record({ kind: 'config', action: 'pause', caller, outcome: 'ok' });
    return pauseShown(deps);
  });
  route(app, 'POST /api/resume', async ({ caller }) => {
    await pause.end();
    audit.record({ kind: 'config', action: 'resume', caller, outcome: 'ok' });
    return pauseShown(deps);
  });
  route(app, 'POST /api/config/reload', async () => {
    const reload = deps.reload();
    await reload?.look();
    const { problem, needsRestart = [] } = reload?.state ?? {};
    return { needsRestart, ...(problem !== undefined && { problem }) };
  });
  route(app, 'POST /api/stop', () => {
    // The answer leaves first.
    setImmediate(deps.stop);
    return { stopping: true };
  });
}

function configShown({ reload }: AdminDeps): Pick<AdminStatus, 'configProblem' | 'needsRestart'> {
  const { problem, needsRestart = [] } = reload()?.state ?? {};
  return {
    ...(problem !== undefined && { configProblem: problem }),
    ...(needsRestart.length > 0 && { needsRestart }),
  };
}

function pauseShown({ pause: { since } }: AdminDeps): AdminPause {
  return since === undefined ? {} : { pausedSince: since };
}
