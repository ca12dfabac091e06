import type { TemplateEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import { uiReferences } from '../model/ui-references.ts';
import type { Listing } from './listing.ts';
import { distinct } from './naming.ts';
import { uriMatcher } from './uri-template.ts';
import type { UriMatcher } from './uri-template.ts';

/** A resource in the words of its upstream. */
export interface OwnUri {
  readonly upstream: UpstreamName;
  readonly uri: string;
}

/** A resource, and the URI under which clients see it. */
export interface ExposedUri extends OwnUri {
  readonly exposed: string;
}

export interface UriRoutes {
  readonly templates: readonly TemplateRoute[];
  /** Exposed URIs that differ from the upstream's own, by upstream and own URI. */
  readonly renamed: ReadonlyMap<UpstreamName, ReadonlyMap<string, string>>;
  /** What tools refer to and no list has, by exposed URI. */
  readonly referred: ReadonlyMap<string, OwnUri>;
}

export interface TemplateRoute {
  readonly entry: TemplateEntry;
  readonly prefix: string;
  readonly matcher: () => UriMatcher;
}

/**
 * URIs pass unchanged unless several upstreams have the same: then all of them are prefixed, for the reason given
 * for names, with a URI of our own scheme whose authority is the upstream and whose path is the original.
 */
export function exposedUris(own: readonly OwnUri[]): readonly string[] {
  return distinct(own, 1, ({ upstream, uri }, level) => (level === 0 ? uri : prefixedUri(upstream, uri)));
}

export function prefixedUri(upstream: UpstreamName, uri: string): string {
  return prefixOf(upstream) + uri;
}

/** The pages of an upstream's tools that it does not list; of hidden tools too, so that showing one renames none. */
export function referredUris({ upstream, tools, resources }: Listing): readonly OwnUri[] {
  const uris = new Set(tools.flatMap(({ definition }) => uiReferences(definition)));
  if (uris.size === 0) return [];
  for (const { definition } of resources) uris.delete(definition.uri);
  return [...uris].map((uri) => ({ upstream, uri }));
}

export function uriRoutes(entries: {
  readonly resources: readonly ExposedUri[];
  readonly referred: readonly ExposedUri[];
  readonly templates: readonly TemplateEntry[];
}): UriRoutes {
  const { resources, referred, templates } = entries;
  return {
    templates: templates.map(templateRoute),
    renamed: renamedOf([...resources, ...referred]),
    referred: new Map(referred.map(({ exposed, upstream, uri }) => [exposed, { upstream, uri }])),
  };
}

/** Of the templates that fit, the one that fixes most. */
export function closest(
  routes: readonly TemplateRoute[],
  accepts: (route: TemplateRoute) => boolean,
): TemplateRoute | undefined {
  let best: TemplateRoute | undefined;
  for (const route of routes) {
    if (best !== undefined && route.matcher().fixed <= best.matcher().fixed) continue;
    if (accepts(route)) best = route;
  }
  return best;
}

function prefixOf(upstream: UpstreamName): string {
  // Through a buffer, since half of a surrogate pair cannot be encoded.
  return `trunkline://${encodeURIComponent(Buffer.from(upstream).toString())}/`;
}

function templateRoute(entry: TemplateEntry): TemplateRoute {
  let matcher: UriMatcher | undefined;
  const isRenamed = entry.uriTemplate !== entry.definition.uriTemplate;
  return {
    entry,
    prefix: isRenamed ? prefixOf(entry.upstream) : '',
    matcher: () => (matcher ??= uriMatcher(entry.definition.uriTemplate)),
  };
}

function renamedOf(uris: readonly ExposedUri[]): UriRoutes['renamed'] {
  const renamed = new Map<UpstreamName, Map<string, string>>();
  for (const { upstream, uri, exposed } of uris) {
    if (uri === exposed) continue;
    const ofUpstream = renamed.get(upstream) ?? new Map<string, string>();
    renamed.set(upstream, ofUpstream.set(uri, exposed));
  }
  return renamed;
}
