import type { ChangedBy } from '../../manage/changed-by.ts';
import type { ChangedServer } from '../../manage/change-results.ts';
import { memoryOf, processTree } from '../../manage/process-tree.ts';
import { fromRegistry, registrySearch } from '../../manage/registry-search.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { AdminAddedServers, AdminServerChanged } from '../contract/manage-contract.ts';
import type { RouteDeps } from '../deps.ts';
import { configShown } from '../shown/config-shown.ts';
import { flag, optionalNumber, optionalObject, optionalText, route, text } from '../route.ts';
import type { AdminApp, Asked } from '../route.ts';
import { allServers } from '../shown/server-shown.ts';

const LINES = 200;
const MAX_LINES = 5000;
const FOUND = 20;
const MAX_FOUND = 100;

/** The configuration's servers: what is written of them, changed, and seen of their processes. */
export function manageRoutes(app: AdminApp, deps: RouteDeps): void {
  const { gateway, management } = deps;
  route(app, 'GET /api/config', () => configShown(deps));
  route(app, 'POST /api/servers', (asked) => add(asked, deps));
  route(app, 'GET /api/servers/:name/config', async ({ params }) =>
    (await management.changes()).entry(named(params)),
  );
  route(app, 'PATCH /api/servers/:name', async (asked) => {
    const changes = optionalObject(asked.body, 'changes');
    if (changes === undefined) throw new GatewayError('USAGE', '"changes" is missing.');
    return changed(await (await management.changes()).update(named(asked.params), changes, how(asked)), deps);
  });
  route(app, 'DELETE /api/servers/:name', async (asked) =>
    changed(await (await management.changes()).remove(named(asked.params), how(asked)), deps),
  );
  route(app, 'POST /api/servers/:name/enable', async (asked) =>
    changed(await (await management.changes()).enable(named(asked.params), how(asked)), deps),
  );
  route(app, 'POST /api/servers/:name/disable', async (asked) =>
    changed(await (await management.changes()).disable(named(asked.params), how(asked)), deps),
  );
  route(app, 'GET /api/servers/:name/log', async ({ params, query }) => {
    const name = named(params);
    // Who asks for one that there is not is told so.
    await (await management.changes()).entry(name);
    const lines = Math.min(optionalNumber(query, 'lines') ?? LINES, MAX_LINES);
    return { name, ...management.log(name, { lines, from: optionalNumber(query, 'from') }) };
  });
  route(app, 'GET /api/servers/:name/processes', async ({ params }) => {
    const name = named(params);
    const { enabled } = await (await management.changes()).entry(name);
    const isUsed = enabled && gateway.servers.names().includes(name as UpstreamName);
    // The cast only asks a map.
    const pids = isUsed ? gateway.servers.pids(name as UpstreamName) : [];
    const processes = await processTree(pids, management.platform);
    return { name, processes, memoryBytes: memoryOf(processes) };
  });
  route(app, 'GET /api/registry', async ({ query, signal }) => {
    const limit = Math.min(optionalNumber(query, 'limit') ?? FOUND, MAX_FOUND);
    return registrySearch(await management.registry(signal), text(query, 'q'), limit);
  });
}

async function add(asked: Asked, { management }: RouteDeps): Promise<AdminAddedServers> {
  const { body, signal } = asked;
  const [servers, pasted] = [optionalObject(body, 'servers'), optionalText(body, 'text')];
  const chosen = optionalObject(body, 'registry');
  const changes = await management.changes();
  const options = {
    ...how(asked),
    dryRun: flag(body, 'dryRun'),
    replace: flag(body, 'replace'),
  };
  if (chosen === undefined)
    return changes.add({ servers, text: pasted, name: optionalText(body, 'name') }, options);
  const found = await fromRegistry(await management.registry(signal), {
    name: text(chosen, 'name'),
    as: optionalText(chosen, 'as'),
  });
  const added = await changes.add({ servers: found.servers }, options);
  const results = added.results.map((each) => ({ ...each, remarks: [...found.remarks, ...each.remarks] }));
  return { ...added, results };
}

function changed(change: ChangedServer, deps: RouteDeps): AdminServerChanged {
  const server = allServers(deps).find(({ name }) => name === change.name);
  return { ...change, ...(server !== undefined && { server }) };
}

function how(asked: Asked): { readonly by: ChangedBy; readonly expected: string | undefined } {
  const { caller, proof, body } = asked;
  return {
    by: { caller, is: proof.isPerson ? 'person' : 'program' },
    expected: optionalText(body, 'expected'),
  };
}

function named(params: Readonly<Record<string, string>>): string {
  return params['name'] ?? '';
}
