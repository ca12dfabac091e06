import type { ToolEntry } from '../../core/entry.ts';
import { dropWeakHits } from '../../gateway/drop-weak-hits.ts';
import type { CatalogView } from '../../gateway/catalog-view.ts';
import { addRoute, readFlag, readNumber, readText, requireText } from '../add-route.ts';
import type { AdminApp, AdminRequest } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { filterByServer, findToolEntry, loadView } from '../calls/find-entry.ts';
import type { AdminSearchHit, AdminNameKind, AdminTool } from '../contract/contract.ts';

/** Default number of search results. It is enough for a person or a model; the tool list contains the rest. */
const DEFAULT_HITS = 10;
const MAX_HITS = 1000;
const MAX_NAMES = 2000;

/** Adds the routes to list, search and describe tools, prompts and resources. */
export function addEntryRoutes(app: AdminApp, deps: AdminDeps): void {
  addRoute(app, 'GET /api/tools', async (request) => {
    const view = await requestedView(request, deps);
    return selectByServer(view.tools, request).map((entry) => presentTool(entry, view));
  });
  addRoute(app, 'GET /api/prompts', async (request) => {
    const { prompts } = await requestedView(request, deps);
    return selectByServer(prompts, request).map(({ name, upstream, definition }) => ({
      name,
      server: upstream,
      original: definition.name,
      definition,
    }));
  });
  addRoute(app, 'GET /api/resources', async (request) => {
    const { resources } = await requestedView(request, deps);
    return selectByServer(resources, request).map(({ uri, upstream, definition }) => ({
      uri,
      server: upstream,
      definition,
    }));
  });
  addRoute(app, 'GET /api/templates', async (request) => {
    const { templates } = await requestedView(request, deps);
    return selectByServer(templates, request).map(({ uriTemplate, upstream, definition }) => ({
      uriTemplate,
      server: upstream,
      definition,
    }));
  });
  addRoute(app, 'GET /api/search', (request) => searchTools(request, deps));
  addRoute(app, 'GET /api/describe', async ({ query, caller }) => {
    const { entry, view } = await findToolEntry(deps, caller, {
      name: requireText(query, 'name'),
      server: readText(query, 'server'),
    });
    return { ...presentTool(entry, view), fingerprint: entry.fingerprint, definition: entry.definition };
  });
  addRoute(app, 'GET /api/names', ({ query, caller }) => {
    const prefix = readText(query, 'prefix') ?? '';
    const names = listNames(requireText(query, 'kind') as AdminNameKind, deps.gateway.view(caller), deps);
    return names.filter((name) => name.startsWith(prefix)).slice(0, MAX_NAMES);
  });
}

async function requestedView({ caller, query }: AdminRequest, deps: AdminDeps): Promise<CatalogView> {
  const server = readText(query, 'server');
  const isCached = readFlag(query, 'cached');
  if (server !== undefined) return loadView(deps, caller, { server, isCached });
  if (!isCached) await deps.gateway.servers.ensureAllListed();
  return deps.gateway.view(caller);
}

function selectByServer<E extends { readonly upstream: string }>(
  entries: readonly E[],
  { query }: AdminRequest,
): readonly E[] {
  return filterByServer(entries, readText(query, 'server'));
}

function presentTool(entry: ToolEntry, view: CatalogView): AdminTool {
  const { title, description } = entry.definition;
  return {
    name: entry.name,
    server: entry.upstream,
    original: entry.definition.name,
    title: typeof title === 'string' ? title : undefined,
    description: typeof description === 'string' ? description : undefined,
    tier: view.tier(entry),
  };
}

async function searchTools(request: AdminRequest, deps: AdminDeps): Promise<readonly AdminSearchHit[]> {
  const { query } = request;
  const view = await requestedView(request, deps);
  const server = readText(query, 'server');
  const requestedLimit = readNumber(query, 'limit');
  const limit = Math.min(requestedLimit ?? DEFAULT_HITS, MAX_HITS);
  const hits = await view.search(requireText(query, 'q'), {
    limit,
    server,
  });
  // Weak results are dropped only if the request sets no limit.
  return (requestedLimit === undefined ? dropWeakHits(hits) : hits).map(({ entry, score }) => ({
    ...presentTool(entry, view),
    score,
  }));
}

function listNames(kind: AdminNameKind, view: CatalogView, { config }: AdminDeps): readonly string[] {
  switch (kind) {
    case 'tool':
      return view.tools.map(({ name }) => name);
    case 'prompt':
      return view.prompts.map(({ name }) => name);
    case 'resource':
      return view.resources.map(({ uri }) => uri);
    case 'server': {
      const { value, disabled } = config();
      return [...value.upstreams.map(({ name }) => name), ...disabled];
    }
    default:
      return [];
  }
}
