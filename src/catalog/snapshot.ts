import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../model/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import { fingerprintOfText } from './fingerprint.ts';
import type { Listed, Listing } from './listing.ts';
import { distinct, exposedNames } from './naming.ts';
import { uriMatcher } from './uri-template.ts';
import type { UriMatcher } from './uri-template.ts';

/** All listings as one, immutable. Maps and arrays are in the order of their keys, by code unit. */
export interface Snapshot {
  /** Of all entries and their names; what servers say about themselves does not count. */
  readonly digest: Fingerprint;
  /** One per list that a client can be told about; templates belong to the resources. */
  readonly digests: {
    readonly tools: Fingerprint;
    readonly prompts: Fingerprint;
    readonly resources: Fingerprint;
  };
  readonly tools: ReadonlyMap<ExposedName, ToolEntry>;
  readonly prompts: ReadonlyMap<ExposedName, PromptEntry>;
  readonly resources: ReadonlyMap<string, ResourceEntry>;
  readonly templates: readonly TemplateEntry[];
  readonly upstreams: ReadonlyMap<UpstreamName, { readonly facts: ServerFacts }>;
  readonly routes: UriRoutes;
}

export interface MergeOptions {
  readonly separator: string;
  readonly allows: (upstream: UpstreamName, toolName: string) => boolean;
}

export interface ResourceRoute {
  readonly entry: ResourceEntry | TemplateEntry;
  readonly upstream: UpstreamName;
  /** As the upstream knows it. */
  readonly uri: string;
}

interface UriRoutes {
  readonly templates: readonly TemplateRoute[];
  /** Exposed URIs that differ from the upstream's own, by upstream and own URI. */
  readonly renamed: ReadonlyMap<UpstreamName, ReadonlyMap<string, string>>;
}

interface TemplateRoute {
  readonly entry: TemplateEntry;
  readonly prefix: string;
  readonly matcher: () => UriMatcher;
}

/** The same listings in any order give the same snapshot. */
export function merge(listings: readonly Listing[], options: MergeOptions): Snapshot {
  const tools = toolsOf(listings, options);
  const prompts = promptsOf(listings, options);
  const resources = resourcesOf(listings);
  const templates = templatesOf(listings);
  return snapshotOf(listings, { tools, prompts, resources, templates });
}

/** What one upstream offers, by itself: under its own names and in its own order. */
export function alone(listing: Listing, { allows }: Pick<MergeOptions, 'allows'>): Snapshot {
  const { upstream } = listing;
  // Nobody else is there whose names it could be confused with.
  const nameOf = ({ name }: { readonly name: string }): ExposedName => name as ExposedName;
  const tools = listing.tools
    .filter(({ definition }) => allows(upstream, definition.name))
    .map((tool) => ({ kind: 'tool' as const, name: nameOf(tool.definition), upstream, ...tool }));
  const prompts = listing.prompts.map((prompt) => ({
    kind: 'prompt' as const,
    name: nameOf(prompt.definition),
    upstream,
    ...prompt,
  }));
  const resources = listing.resources.map((resource) => ({
    kind: 'resource' as const,
    uri: resource.definition.uri,
    upstream,
    ...resource,
  }));
  const templates = listing.templates.map((template) => ({
    kind: 'template' as const,
    uriTemplate: template.definition.uriTemplate,
    upstream,
    ...template,
  }));
  return snapshotOf([listing], { tools, prompts, resources, templates });
}

interface Entries {
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
}

function snapshotOf(listings: readonly Listing[], entries: Entries): Snapshot {
  const { tools, prompts, resources, templates } = entries;
  const digests = {
    tools: digestOf(tools, (tool) => tool.name),
    prompts: digestOf(prompts, (prompt) => prompt.name),
    resources: digestOf([...resources, ...templates], exposedUriOf),
  };
  return {
    digest: fingerprintOfText(JSON.stringify(digests)),
    digests,
    tools: new Map(tools.map((tool) => [tool.name, tool])),
    prompts: new Map(prompts.map((prompt) => [prompt.name, prompt])),
    resources: new Map(resources.map((resource) => [resource.uri, resource])),
    templates,
    upstreams: new Map(
      inOrder([...listings], ({ upstream }) => upstream).map(({ upstream, facts }) => [upstream, { facts }]),
    ),
    routes: { templates: templates.map(templateRoute), renamed: renamedOf(resources) },
  };
}

interface Owned<Definition> extends Listed<Definition> {
  readonly upstream: UpstreamName;
}

function ownedBy<Definition>(
  listings: readonly Listing[],
  entriesOf: (listing: Listing) => readonly Listed<Definition>[],
): readonly Owned<Definition>[] {
  return listings.flatMap((listing) =>
    entriesOf(listing).map(({ fingerprint, definition }) => ({
      upstream: listing.upstream,
      fingerprint,
      definition,
    })),
  );
}

function toolsOf(listings: readonly Listing[], { separator, allows }: MergeOptions): readonly ToolEntry[] {
  const owned = ownedBy(listings, (listing) => listing.tools);
  const entries = named(owned, separator).map(([name, tool]) => ({ kind: 'tool' as const, name, ...tool }));
  return inOrder(
    entries.filter(({ upstream, definition }) => allows(upstream, definition.name)),
    ({ name }) => name,
  );
}

function promptsOf(listings: readonly Listing[], { separator }: MergeOptions): readonly PromptEntry[] {
  const owned = ownedBy(listings, (listing) => listing.prompts);
  const entries = named(owned, separator).map(([name, prompt]) => ({
    kind: 'prompt' as const,
    name,
    ...prompt,
  }));
  return inOrder(entries, ({ name }) => name);
}

function named<Definition extends { readonly name: string }>(
  owned: readonly Owned<Definition>[],
  separator: string,
): readonly (readonly [ExposedName, Owned<Definition>])[] {
  const pairs = owned.map(({ upstream, definition }) => ({ upstream, name: definition.name }));
  const names = exposedNames(pairs, separator);
  return owned.flatMap((entry, at) => {
    const name = names[at];
    return name === undefined ? [] : [[name, entry] as const];
  });
}

function resourcesOf(listings: readonly Listing[]): readonly ResourceEntry[] {
  const owned = ownedBy(listings, (listing) => listing.resources);
  const uris = exposedUris(owned, ({ uri }) => uri);
  const entries = owned.map((entry, at) => ({
    kind: 'resource' as const,
    uri: uris[at] ?? entry.definition.uri,
    ...entry,
  }));
  return inOrder(entries, ({ uri }) => uri);
}

function templatesOf(listings: readonly Listing[]): readonly TemplateEntry[] {
  const owned = ownedBy(listings, (listing) => listing.templates);
  const uris = exposedUris(owned, ({ uriTemplate }) => uriTemplate);
  const entries = owned.map((entry, at) => ({
    kind: 'template' as const,
    uriTemplate: uris[at] ?? entry.definition.uriTemplate,
    ...entry,
  }));
  return inOrder(entries, ({ uriTemplate }) => uriTemplate);
}

/**
 * URIs pass unchanged unless several upstreams have the same: then all of them are prefixed, for the reason given
 * for names, with a URI of our own scheme whose authority is the upstream and whose path is the original.
 */
function exposedUris<Definition>(
  owned: readonly Owned<Definition>[],
  uriOf: (definition: Definition) => string,
): readonly string[] {
  return distinct(owned, 1, ({ upstream, definition }, level) =>
    level === 0 ? uriOf(definition) : prefixOf(upstream) + uriOf(definition),
  );
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

function renamedOf(resources: readonly ResourceEntry[]): UriRoutes['renamed'] {
  const renamed = new Map<UpstreamName, Map<string, string>>();
  for (const { upstream, uri, definition } of resources) {
    if (uri === definition.uri) continue;
    const uris = renamed.get(upstream) ?? new Map<string, string>();
    renamed.set(upstream, uris.set(definition.uri, uri));
  }
  return renamed;
}

/** Whom to ask for a URI that a client names: a listed resource, else the closest template. */
export function findResource(snapshot: Snapshot, uri: string): ResourceRoute | undefined {
  const resource = snapshot.resources.get(uri);
  if (resource !== undefined)
    return { entry: resource, upstream: resource.upstream, uri: resource.definition.uri };
  const route = closest(
    snapshot.routes.templates,
    ({ prefix, matcher }) => uri.startsWith(prefix) && matcher().matches(uri.slice(prefix.length)),
  );
  if (route === undefined) return undefined;
  return { entry: route.entry, upstream: route.entry.upstream, uri: uri.slice(route.prefix.length) };
}

/** The URI under which clients see what an upstream calls `uri`, in links and notifications. */
export function exposedUri(snapshot: Snapshot, upstream: UpstreamName, uri: string): string {
  const renamed = snapshot.routes.renamed.get(upstream)?.get(uri);
  if (renamed !== undefined) return renamed;
  if (snapshot.resources.get(uri)?.upstream === upstream) return uri;
  const route = closest(
    snapshot.routes.templates,
    ({ entry, matcher }) => entry.upstream === upstream && matcher().matches(uri),
  );
  return (route?.prefix ?? '') + uri;
}

function closest(
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

function exposedUriOf(entry: ResourceEntry | TemplateEntry): string {
  return entry.kind === 'resource' ? entry.uri : entry.uriTemplate;
}

function digestOf<Entry extends ToolEntry | PromptEntry | ResourceEntry | TemplateEntry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): Fingerprint {
  const lines = entries.map((entry) => [entry.kind, keyOf(entry), entry.upstream, entry.fingerprint]);
  return fingerprintOfText(JSON.stringify(lines));
}

function inOrder<Item>(items: Item[], keyOf: (item: Item) => string): Item[] {
  return items.sort((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    return a < b ? -1 : a > b ? 1 : 0;
  });
}
