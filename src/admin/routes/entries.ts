import { strongHits } from '../../gateway/strong-hits.ts';
import type { View } from '../../gateway/view.ts';
import type { ToolEntry } from '../../model/entry.ts';
import type { AdminNameKind, AdminTool } from '../contract/contract.ts';
import type { AdminDeps } from '../deps.ts';
import { findEntry, inServer, listedView } from '../calling/find-entry.ts';
import { flag, optionalNumber, optionalText, route, text } from '../route.ts';
import type { AdminApp, Asked } from '../route.ts';

/** Enough for a person and for a model; who wants all of them lists the tools. */
const HITS = 10;
const MAX_HITS = 1000;
const MAX_NAMES = 2000;

/** Tools, prompts and resources: lists and search. */
export function entryRoutes(app: AdminApp, deps: AdminDeps): void {
  const view = async ({ caller, query }: Asked): Promise<View> => {
    const server = optionalText(query, 'server');
    const isCached = flag(query, 'cached');
    if (server !== undefined) return listedView(deps, caller, { server, isCached });
    if (!isCached) await deps.gateway.servers.listedForAll();
    return deps.gateway.view(caller);
  };
  const chosen = <E extends { readonly upstream: string }>(entries: readonly E[], { query }: Asked) =>
    inServer(entries, optionalText(query, 'server'));
  route(app, 'GET /api/tools', async (asked) => {
    const all = await view(asked);
    return chosen(all.tools, asked).map((entry) => toolShown(entry, all));
  });
  route(app, 'GET /api/prompts', async (asked) =>
    chosen((await view(asked)).prompts, asked).map(({ name, upstream, definition }) => ({
      name,
      server: upstream,
      original: definition.name,
      definition,
    })),
  );
  route(app, 'GET /api/resources', async (asked) =>
    chosen((await view(asked)).resources, asked).map(({ uri, upstream, definition }) => ({
      uri,
      server: upstream,
      definition,
    })),
  );
  route(app, 'GET /api/templates', async (asked) =>
    chosen((await view(asked)).templates, asked).map(({ uriTemplate, upstream, definition }) => ({
      uriTemplate,
      server: upstream,
      definition,
    })),
  );
  route(app, 'GET /api/search', async (asked) => {
    const { query } = asked;
    const all = await view(asked);
    const server = optionalText(query, 'server');
    const wanted = optionalNumber(query, 'limit');
    const limit = Math.min(wanted ?? HITS, MAX_HITS);
    const hits = await all.search(text(query, 'q'), { limit, ...(server !== undefined && { server }) });
    return (wanted === undefined ? strongHits(hits) : hits).map(({ entry, score }) => ({
      ...toolShown(entry, all),
      score,
    }));
  });
  route(app, 'GET /api/describe', async ({ query, caller }) => {
    const { entry, view: all } = await findEntry(deps, caller, {
      name: text(query, 'name'),
      server: optionalText(query, 'server'),
    });
    return { ...toolShown(entry, all), fingerprint: entry.fingerprint, definition: entry.definition };
  });
  route(app, 'GET /api/names', ({ query, caller }) => {
    const prefix = optionalText(query, 'prefix') ?? '';
    const names = namesOf(text(query, 'kind') as AdminNameKind, deps.gateway.view(caller), deps);
    return names.filter((name) => name.startsWith(prefix)).slice(0, MAX_NAMES);
  });
}

function toolShown(entry: ToolEntry, view: View): AdminTool {
  const { title, description } = entry.definition;
  return {
    name: entry.name,
    server: entry.upstream,
    original: entry.definition.name,
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    tier: view.tier(entry),
  };
}

function namesOf(kind: AdminNameKind, view: View, { config }: AdminDeps): readonly string[] {
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
