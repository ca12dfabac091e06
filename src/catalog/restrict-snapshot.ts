import type { Entry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { listUiReferences } from '../core/ui-references.ts';
import { groupByUpstream } from './resource-uris.ts';
import { buildLists } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

/** Decides which entries and upstreams of a snapshot are visible. */
export interface SnapshotFilter {
  readonly isEntryVisible: (entry: Entry) => boolean;
  /** `hasVisibleEntries` is true if at least one entry of the upstream is visible. */
  readonly isUpstreamVisible: (upstream: UpstreamName, hasVisibleEntries: boolean) => boolean;
}

/**
 * Returns the visible part of a snapshot, without routes to hidden entries: a hidden entry is indistinguishable from one that
 * does not exist. Names and URIs are those of the whole snapshot, so hiding an entry renames nothing.
 */
export function restrictSnapshot(snapshot: Snapshot, filter: SnapshotFilter): Snapshot {
  const tools = [...snapshot.tools.values()].filter(filter.isEntryVisible);
  const prompts = [...snapshot.prompts.values()].filter(filter.isEntryVisible);
  const resources = [...snapshot.resources.values()].filter(filter.isEntryVisible);
  const templates = snapshot.templates.filter(filter.isEntryVisible);
  const visibleTemplates = new Set<Entry>(templates);
  const pages = pagesOf(tools);
  const visibleUpstreams = new Set(
    [tools, prompts, resources, templates].flat().map(({ upstream }) => upstream),
  );
  return {
    ...buildLists({ tools, prompts, resources, templates }),
    held: {
      tools: new Map([...snapshot.held.tools].filter(([, { entry }]) => filter.isEntryVisible(entry))),
      prompts: new Map([...snapshot.held.prompts].filter(([, { entry }]) => filter.isEntryVisible(entry))),
    },
    upstreams: new Map(
      [...snapshot.upstreams].filter(([name]) => filter.isUpstreamVisible(name, visibleUpstreams.has(name))),
    ),
    routes: {
      templates: groupByUpstream(
        [...snapshot.routes.templates.values()].flat().filter(({ entry }) => visibleTemplates.has(entry)),
      ),
      renamed: snapshot.routes.renamed,
      unlistedPages: new Map(
        [...snapshot.routes.unlistedPages].filter(([, { upstream, uri }]) => pages.get(upstream)?.has(uri)),
      ),
    },
  };
}

/** Returns the URIs of the UI pages that tools refer to, by upstream. */
function pagesOf(
  tools: Iterable<Extract<Entry, { kind: 'tool' }>>,
): ReadonlyMap<UpstreamName, ReadonlySet<string>> {
  const pages = new Map<UpstreamName, Set<string>>();
  for (const { upstream, definition } of tools) {
    for (const uri of listUiReferences(definition)) {
      const upstreamPages = pages.get(upstream) ?? new Set();
      pages.set(upstream, upstreamPages.add(uri));
    }
  }
  return pages;
}
