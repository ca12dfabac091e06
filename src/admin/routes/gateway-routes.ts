import { readFile } from 'node:fs/promises';
import type { Caller } from '../../core/caller.ts';
import { addRoute, jsonResponse } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminStatus } from '../contract/contract.ts';
import { presentCheckedServers } from '../presenters/present-servers.ts';

/** Adds the routes about the gateway as a whole. */
export function addGatewayRoutes(app: AdminApp, deps: AdminDeps): void {
  const { audit, pause, version, pid } = deps;
  addRoute(app, 'GET /api/health', () => ({ version, pid }));
  app.get('/api/openapi.json', async () => jsonResponse(await readFile(deps.openapi, 'utf8')));
  addRoute(app, 'GET /api/status', ({ caller }) => presentStatus(deps, caller));
  addRoute(app, 'POST /api/pause', async ({ caller }) => {
    await pause.begin();
    audit.record({ kind: 'config', action: 'pause', caller, outcome: 'ok' });
    return { pausedSince: pause.since };
  });
  addRoute(app, 'POST /api/resume', async ({ caller }) => {
    await pause.end();
    audit.record({ kind: 'config', action: 'resume', caller, outcome: 'ok' });
    return { pausedSince: pause.since };
  });
  addRoute(app, 'POST /api/config/reload', async () => {
    const reload = deps.reload();
    await reload?.reload();
    return { needsRestart: reload?.state.needsRestart ?? [], problem: reload?.state.problem };
  });
  addRoute(app, 'POST /api/stop', () => {
    // The stop is deferred, so that the response is sent first.
    setImmediate(deps.stop);
    return { stopping: true };
  });
}

async function presentStatus(deps: AdminDeps, caller: Caller): Promise<AdminStatus> {
  const servers = await presentCheckedServers(deps);
  const { gateway, audit, pause } = deps;
  const { counts, approvalProblem: problem } = gateway.heldEntries;
  const { file, warnings, value } = deps.config();
  const { problem: configProblem, needsRestart = [] } = deps.reload()?.state ?? {};
  const differingVariables = deps.differingVariables();
  return {
    version: deps.version,
    pid: deps.pid,
    since: deps.since,
    kind: deps.kind,
    config: file,
    url: deps.url(),
    clients: deps.clients(),
    pausedSince: pause.since,
    warnings: warnings.map(
      (warning) => `${warning.file}:${warning.line}:${warning.column}: ${warning.message}`,
    ),
    configProblem,
    needsRestart: needsRestart.length > 0 ? needsRestart : undefined,
    differingVariables: differingVariables.length > 0 ? differingVariables : undefined,
    fleet: deps.fleet(),
    tools: gateway.view(caller).tools.length,
    audit: value.audit.enabled ? audit.health : undefined,
    held: { ...counts, calls: gateway.heldCalls.list().length, problem },
    servers,
  };
}
