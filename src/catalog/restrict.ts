import type { Entry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import { uiReferences } from '../model/ui-references.ts';
import { listsOf } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

/** What may be seen of a snapshot. */
export interface Allows {
  readonly entry: (entry: Entry) => boolean;
  /** `isMet`: something of it is allowed. */
  readonly upstream: (upstream: UpstreamName, isMet: boolean) => boolean;
}

/**
 * The part of a snapshot that is allowed, with everything that leads to it and nothing that leads elsewhere: what is
 * left out is as if it did not exist. Names and URIs stay what they are in the whole, so that hiding renames nothing.
 */
export function restrict(snapshot: Snapshot, allows: Allows): Snapshot {
  const tools = [...snapshot.tools.values()].filter(allows.entry);
  const prompts = [...snapshot.prompts.values()].filter(allows.entry);
  const resources = [...snapshot.resources.values()].filter(allows.entry);
  const templates = snapshot.templates.filter(allows.entry);
  const isTemplate = new Set<Entry>(templates);
  const pages = pagesOf(tools);
  const met = new Set([tools, prompts, resources, templates].flat().map(({ upstream }) => upstream));
  return {
    ...listsOf({ tools, prompts, resources, templates }),
    held: {
      tools: new Map([...snapshot.held.tools].filter(([, { entry }]) => allows.entry(entry))),
      prompts: new Map([...snapshot.held.prompts].filter(([, { entry }]) => allows.entry(entry))),
    },
    upstreams: new Map([...snapshot.upstreams].filter(([name]) => allows.upstream(name, met.has(name)))),
    routes: {
      templates: snapshot.routes.templates.filter(({ entry }) => isTemplate.has(entry)),
      renamed: snapshot.routes.renamed,
      referred: new Map(
        [...snapshot.routes.referred].filter(([, { upstream, uri }]) => pages.get(upstream)?.has(uri)),
      ),
    },
  };
}

/** What the tools that are left refer to. */
function pagesOf(
  tools: Iterable<Extract<Entry, { kind: 'tool' }>>,
): ReadonlyMap<UpstreamName, ReadonlySet<string>> {
  const pages = new Map<UpstreamName, Set<string>>();
  for (const { upstream, definition } of tools) {
    for (const uri of uiReferences(definition)) {
      const ofUpstream = pages.get(upstream) ?? new Set();
      pages.set(upstream, ofUpstream.add(uri));
    }
  }
  return pages;
}
