import type { ChangeAuthor } from '../../setup/manage/change-author.ts';
import type { ChangeServerResult } from '../../setup/manage/change-results.ts';
import { sumMemory, readProcessTree } from '../../setup/manage/process-tree.ts';
import { resolveRegistryServer, searchRegistry } from '../../setup/manage/search-registry.ts';
import { GatewayError } from '../../core/errors.ts';
import { addRoute, readFlag, readNumber, readObject, readText, requireText } from '../add-route.ts';
import type { AdminApp, AdminRequest } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import type { AdminAddServersResult, AdminChangeServerResult } from '../contract/management-contract.ts';
import { presentConfigState } from '../presenters/present-config-state.ts';
import { presentServers } from '../presenters/present-servers.ts';

const DEFAULT_LINES = 200;
const MAX_LINES = 5000;
const DEFAULT_REGISTRY_RESULTS = 20;
const MAX_REGISTRY_RESULTS = 100;

/** Adds the routes to read and change the servers of the configuration, and to read their logs and processes. */
export function addManagementRoutes(app: AdminApp, deps: AdminDeps): void {
  const { gateway, management } = deps;
  addRoute(app, 'GET /api/config', () => presentConfigState(deps));
  addRoute(app, 'POST /api/servers', (request) => addServers(request, deps));
  addRoute(app, 'GET /api/servers/:name/config', async ({ params }) =>
    (await management.editor()).entry(serverName(params)),
  );
  addRoute(app, 'PATCH /api/servers/:name', async (request) => {
    const changes = readObject(request.body, 'changes');
    if (changes === undefined) throw new GatewayError('USAGE', '"changes" is missing.');
    return presentChange(
      await (await management.editor()).update(serverName(request.params), changes, changeOptions(request)),
      deps,
    );
  });
  addRoute(app, 'DELETE /api/servers/:name', async (request) =>
    presentChange(
      await (await management.editor()).remove(serverName(request.params), changeOptions(request)),
      deps,
    ),
  );
  addRoute(app, 'POST /api/servers/:name/enable', async (request) =>
    presentChange(
      await (await management.editor()).enable(serverName(request.params), changeOptions(request)),
      deps,
    ),
  );
  addRoute(app, 'POST /api/servers/:name/disable', async (request) =>
    presentChange(
      await (await management.editor()).disable(serverName(request.params), changeOptions(request)),
      deps,
    ),
  );
  addRoute(app, 'GET /api/servers/:name/log', async ({ params, query }) => {
    const name = serverName(params);
    // `entry` rejects if there is no such server.
    await (await management.editor()).entry(name);
    const lines = Math.min(readNumber(query, 'lines') ?? DEFAULT_LINES, MAX_LINES);
    return { name, ...management.log(name, { lines, from: readNumber(query, 'from') }) };
  });
  addRoute(app, 'GET /api/servers/:name/processes', async ({ params }) => {
    const name = serverName(params);
    const { enabled } = await (await management.editor()).entry(name);
    const known = gateway.servers.names().find((server: string) => server === name);
    const pids = enabled && known !== undefined ? gateway.servers.pids(known) : [];
    const processes = await readProcessTree(pids, management.platform);
    return { name, processes, memoryBytes: sumMemory(processes) };
  });
  addRoute(app, 'GET /api/registry', async ({ query, signal }) => {
    const limit = Math.min(readNumber(query, 'limit') ?? DEFAULT_REGISTRY_RESULTS, MAX_REGISTRY_RESULTS);
    return searchRegistry(await management.registry(signal), requireText(query, 'q'), limit);
  });
}

async function addServers(request: AdminRequest, { management }: AdminDeps): Promise<AdminAddServersResult> {
  const { body, signal } = request;
  const selection = readObject(body, 'registry');
  const editor = await management.editor();
  const options = {
    ...changeOptions(request),
    dryRun: readFlag(body, 'dryRun'),
    replace: readFlag(body, 'replace'),
  };
  if (selection === undefined) {
    const servers = readObject(body, 'servers');
    const text = readText(body, 'text');
    return editor.add({ servers, text, name: readText(body, 'name') }, options);
  }
  const resolved = await resolveRegistryServer(await management.registry(signal), {
    name: requireText(selection, 'name'),
    as: readText(selection, 'as'),
  });
  const added = await editor.add({ servers: resolved.servers }, options);
  const results = added.results.map((result) => ({
    ...result,
    remarks: [...resolved.remarks, ...result.remarks],
  }));
  return { ...added, results };
}

function presentChange(change: ChangeServerResult, deps: AdminDeps): AdminChangeServerResult {
  const server = presentServers(deps).find(({ name }) => name === change.name);
  return { ...change, server };
}

function changeOptions({ caller, authentication, body }: AdminRequest): {
  readonly author: ChangeAuthor;
  readonly expectedRevision: string | undefined;
} {
  return {
    author: { caller, kind: authentication.isPerson ? 'person' : 'program' },
    expectedRevision: readText(body, 'expected'),
  };
}

function serverName(params: Readonly<Record<string, string>>): string {
  return params['name'] ?? '';
}
