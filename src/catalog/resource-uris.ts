import type { TemplateEntry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { listUiReferences } from '../core/ui-references.ts';
import type { Listing } from './listing.ts';
import { assignDistinctForms } from './exposed-names.ts';
import { MatchBudget, createUriMatcher } from './uri-template.ts';
import type { UriMatcher } from './uri-template.ts';

/** A resource by its upstream and the upstream's own URI. */
export interface UpstreamUri {
  readonly upstream: UpstreamName;
  readonly uri: string;
}

/** A resource with the URI that clients see. */
export interface ExposedUri extends UpstreamUri {
  readonly exposed: string;
}

export interface UriRoutes {
  readonly templates: ReadonlyMap<UpstreamName, readonly TemplateRoute[]>;
  /** Exposed URIs that differ from the upstream's own, by upstream and own URI. */
  readonly renamed: ReadonlyMap<UpstreamName, ReadonlyMap<string, string>>;
  /** UI pages that tools refer to but that no list contains, by exposed URI. */
  readonly unlistedPages: ReadonlyMap<string, UpstreamUri>;
}

export interface TemplateRoute {
  readonly entry: TemplateEntry;
  /** The prefix that exposed URIs of this template have; empty if the template was not renamed. */
  readonly prefix: string;
  /** Returns the matcher for the upstream's own URIs, which is created on first use. */
  readonly matcher: () => UriMatcher;
}

/**
 * Returns the exposed URIs, in the order of `own`. A URI that only one upstream has stays unchanged. If several upstreams have the same
 * URI, each of them gets the prefix `trunkline://UPSTREAM/`; `assignExposedNames` explains why none keeps the original.
 */
export function assignExposedUris(own: readonly UpstreamUri[]): readonly string[] {
  return assignDistinctForms(own, 1, ({ upstream, uri }, level) =>
    level === 0 ? uri : toPrefixedUri(upstream, uri),
  );
}

export function toPrefixedUri(upstream: UpstreamName, uri: string): string {
  return prefixOf(upstream) + uri;
}

/**
 * Returns the UI pages that an upstream's tools refer to but that the upstream does not list. Tools that a
 * policy hides count, too, so that allowing one of them renames nothing.
 */
export function findUnlistedPages({ upstream, tools, resources }: Listing): readonly UpstreamUri[] {
  const uris = new Set(tools.flatMap(({ definition }) => listUiReferences(definition)));
  if (uris.size === 0) return [];
  for (const { definition } of resources) uris.delete(definition.uri);
  return [...uris].map((uri) => ({ upstream, uri }));
}

export function buildUriRoutes(entries: {
  readonly resources: readonly ExposedUri[];
  readonly unlistedPages: readonly ExposedUri[];
  readonly templates: readonly TemplateEntry[];
}): UriRoutes {
  const { resources, unlistedPages, templates } = entries;
  return {
    templates: groupByUpstream(templates.map(templateRoute)),
    renamed: renamedOf([...resources, ...unlistedPages]),
    unlistedPages: new Map(unlistedPages.map(({ exposed, upstream, uri }) => [exposed, { upstream, uri }])),
  };
}

/**
 * Returns the template of one upstream that matches the upstream's own URI. If several match, the one with
 * the most literal characters wins.
 */
export function findUpstreamTemplate(
  { templates }: UriRoutes,
  { upstream, uri }: UpstreamUri,
  budget: MatchBudget,
): TemplateRoute | undefined {
  return findClosest(templates.get(upstream) ?? [], (route) => route.matcher().matches(uri, budget));
}

/**
 * Returns the template of any upstream that matches an exposed URI. If several match, the one with the most
 * literal characters wins.
 */
export function findExposedTemplate(
  { templates }: UriRoutes,
  uri: string,
  budget: MatchBudget | undefined,
): TemplateRoute | undefined {
  const closest: TemplateRoute[] = [];
  for (const routes of templates.values()) {
    // Without a shared budget, each upstream has its own, so that costly templates of one cannot hide the templates of others.
    const ownBudget = budget ?? new MatchBudget();
    const route = findClosest(
      routes,
      ({ prefix, matcher }) =>
        uri.startsWith(prefix) && matcher().matches(uri.slice(prefix.length), ownBudget),
    );
    if (route !== undefined) closest.push(route);
  }
  return findClosest(closest, () => true);
}

function findClosest(
  routes: readonly TemplateRoute[],
  accepts: (route: TemplateRoute) => boolean,
): TemplateRoute | undefined {
  let best: TemplateRoute | undefined;
  for (const route of routes) {
    // Comparing the number of literal characters is cheaper than matching, so it comes first.
    if (best !== undefined && route.matcher().literalLength <= best.matcher().literalLength) continue;
    if (accepts(route)) best = route;
  }
  return best;
}

/** Groups routes by upstream and keeps their order. */
export function groupByUpstream(routes: Iterable<TemplateRoute>): UriRoutes['templates'] {
  const groups = new Map<UpstreamName, TemplateRoute[]>();
  for (const route of routes) {
    const group = groups.get(route.entry.upstream);
    if (group === undefined) groups.set(route.entry.upstream, [route]);
    else group.push(route);
  }
  return groups;
}

function prefixOf(upstream: UpstreamName): string {
  // The buffer replaces lone surrogates, which `encodeURIComponent` rejects.
  return `trunkline://${encodeURIComponent(Buffer.from(upstream).toString())}/`;
}

function templateRoute(entry: TemplateEntry): TemplateRoute {
  let matcher: UriMatcher | undefined;
  const isRenamed = entry.uriTemplate !== entry.definition.uriTemplate;
  return {
    entry,
    prefix: isRenamed ? prefixOf(entry.upstream) : '',
    matcher: () => (matcher ??= createUriMatcher(entry.definition.uriTemplate)),
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
