import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../model/entry.ts';
import type { HeldReason } from '../model/held.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../model/ids.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import { fingerprintOfText } from './fingerprint.ts';
import { approvedFacts, byHold } from './held.ts';
import type { Listed, Listing } from './listing.ts';
import { exposedNames } from './naming.ts';
import { closest, exposedUris, prefixedUri, referredUris, uriRoutes } from './resource-uris.ts';
import type { ExposedUri, OwnUri, UriRoutes } from './resource-uris.ts';

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
  /** What waits for a person, under the names that clients would see: in no list, and not to be called. */
  readonly held: Held;
}

export interface Held {
  readonly tools: ReadonlyMap<ExposedName, HeldEntry<ToolEntry>>;
  readonly prompts: ReadonlyMap<ExposedName, HeldEntry<PromptEntry>>;
}

export interface HeldEntry<E = ToolEntry | PromptEntry> {
  readonly entry: E;
  readonly reason: HeldReason;
}

export interface MergeOptions {
  readonly separator: string;
  readonly allows: (upstream: UpstreamName, toolName: string) => boolean;
  /** What clients read about a tool, where that is not what its server says. */
  readonly describe?: Describe | undefined;
}

export type Describe = (
  upstream: UpstreamName,
  definition: ToolEntry['definition'],
) => ToolEntry['definition'];

/** Whom to ask for a resource, and by which URI of theirs. */
export interface ResourceRoute extends OwnUri {
  /** Absent where a tool or a link named it and no list has it. */
  readonly entry?: ResourceEntry | TemplateEntry;
}

/** The same listings in any order give the same snapshot. */
export function merge(listings: readonly Listing[], options: MergeOptions): Snapshot {
  const tools = toolsOf(listings, options);
  const prompts = promptsOf(listings, options);
  const { resources, referred } = resourcesOf(listings);
  const templates = templatesOf(listings);
  return snapshotOf(listings, { tools, prompts, resources, templates, referred });
}

/** What one upstream offers, by itself: under its own names and in its own order. */
export function alone(
  listing: Listing,
  { allows, describe }: Pick<MergeOptions, 'allows' | 'describe'>,
): Snapshot {
  const { upstream } = listing;
  // Nobody else is there whose names it could be confused with.
  const nameOf = ({ name }: { readonly name: string }): ExposedName => name as ExposedName;
  const tools = listing.tools
    .filter(({ definition }) => allows(upstream, definition.name))
    .map((tool) => ({ kind: 'tool' as const, name: nameOf(tool.definition), upstream, ...tool }))
    .map((tool) => described(tool, describe));
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
  const referred = referredUris(listing).map((own) => ({ ...own, exposed: own.uri }));
  return snapshotOf([listing], { tools, prompts, resources, templates, referred });
}

interface Entries {
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  readonly referred: readonly ExposedUri[];
}

function snapshotOf(listings: readonly Listing[], offered: Entries): Snapshot {
  const { resources, templates, referred } = offered;
  const { shown: tools, held: heldTools } = byHold(offered.tools, listings);
  const { shown: prompts, held: heldPrompts } = byHold(offered.prompts, listings);
  return {
    ...listsOf({ tools, prompts, resources, templates }),
    upstreams: new Map(
      inOrder([...listings], ({ upstream }) => upstream).map((listing) => [
        listing.upstream,
        { facts: approvedFacts(listing) },
      ]),
    ),
    held: { tools: heldTools, prompts: heldPrompts },
    routes: uriRoutes({
      resources: resources.map(({ upstream, uri, definition }) => ({
        upstream,
        uri: definition.uri,
        exposed: uri,
      })),
      referred,
      templates,
    }),
  };
}

type Lists = Pick<Snapshot, 'digest' | 'digests' | 'tools' | 'prompts' | 'resources' | 'templates'>;

/** What is shown, by name, with what tells it from what was shown before. */
export function listsOf({ tools, prompts, resources, templates }: Omit<Entries, 'referred'>): Lists {
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

/** Its fingerprint is still of what the server said. */
function described(tool: ToolEntry, describe: Describe | undefined): ToolEntry {
  const definition = describe?.(tool.upstream, tool.definition) ?? tool.definition;
  if (definition === tool.definition) return tool;
  return { ...tool, definition, words: fingerprintOfText(JSON.stringify(definition['description'])) };
}

function toolsOf(
  listings: readonly Listing[],
  { separator, allows, describe }: MergeOptions,
): readonly ToolEntry[] {
  const owned = ownedBy(listings, (listing) => listing.tools);
  const entries = named(owned, separator).map(([name, tool]) => ({ kind: 'tool' as const, name, ...tool }));
  return inOrder(
    entries
      .filter(({ upstream, definition }) => allows(upstream, definition.name))
      .map((tool) => described(tool, describe)),
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

function resourcesOf(listings: readonly Listing[]): {
  readonly resources: readonly ResourceEntry[];
  readonly referred: readonly ExposedUri[];
} {
  const owned = ownedBy(listings, (listing) => listing.resources);
  const referred = listings.flatMap(referredUris);
  const own = owned.map(({ upstream, definition }) => ({ upstream, uri: definition.uri }));
  const uris = exposedUris([...own, ...referred]);
  const entries = owned.map((entry, at) => ({
    kind: 'resource' as const,
    uri: uris[at] ?? entry.definition.uri,
    ...entry,
  }));
  return {
    resources: inOrder(entries, ({ uri }) => uri),
    referred: referred.map((one, at) => ({ ...one, exposed: uris[own.length + at] ?? one.uri })),
  };
}

function templatesOf(listings: readonly Listing[]): readonly TemplateEntry[] {
  const owned = ownedBy(listings, (listing) => listing.templates);
  const uris = exposedUris(
    owned.map(({ upstream, definition }) => ({ upstream, uri: definition.uriTemplate })),
  );
  const entries = owned.map((entry, at) => ({
    kind: 'template' as const,
    uriTemplate: uris[at] ?? entry.definition.uriTemplate,
    ...entry,
  }));
  return inOrder(entries, ({ uriTemplate }) => uriTemplate);
}

/** Whom to ask for a URI that a client names: a listed resource, else the closest template. */
export function findResource(snapshot: Snapshot, uri: string): ResourceRoute | undefined {
  const resource = snapshot.resources.get(uri);
  if (resource !== undefined)
    return { entry: resource, upstream: resource.upstream, uri: resource.definition.uri };
  const referred = snapshot.routes.referred.get(uri);
  if (referred !== undefined) return referred;
  const route = closest(
    snapshot.routes.templates,
    ({ prefix, matcher }) => uri.startsWith(prefix) && matcher().matches(uri.slice(prefix.length)),
  );
  if (route === undefined) return undefined;
  return { entry: route.entry, upstream: route.entry.upstream, uri: uri.slice(route.prefix.length) };
}

/** The URI under which clients see what an upstream calls `uri`, in links and notifications; it leads to nobody else. */
export function exposedUri(snapshot: Snapshot, upstream: UpstreamName, uri: string): string {
  const renamed = snapshot.routes.renamed.get(upstream)?.get(uri);
  if (renamed !== undefined) return renamed;
  const template = closest(
    snapshot.routes.templates,
    ({ entry, matcher }) => entry.upstream === upstream && matcher().matches(uri),
  );
  const isListed = snapshot.resources.get(uri)?.upstream === upstream;
  const exposed = isListed ? uri : (template?.prefix ?? '') + uri;
  const route = findResource(snapshot, exposed);
  return route === undefined || route.upstream === upstream ? exposed : prefixedUri(upstream, uri);
}

function exposedUriOf(entry: ResourceEntry | TemplateEntry): string {
  return entry.kind === 'resource' ? entry.uri : entry.uriTemplate;
}

function digestOf<Entry extends ToolEntry | PromptEntry | ResourceEntry | TemplateEntry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): Fingerprint {
  const lines = entries.map((entry) => [
    ...[entry.kind, keyOf(entry), entry.upstream, entry.fingerprint],
    // Other words of the configuration are another list to whoever reads it.
    ...(entry.kind === 'tool' && entry.words !== undefined ? [entry.words] : []),
  ]);
  return fingerprintOfText(JSON.stringify(lines));
}

function inOrder<Item>(items: Item[], keyOf: (item: Item) => string): Item[] {
  return items.sort((one, other) => {
    const a = keyOf(one);
    const b = keyOf(other);
    return a < b ? -1 : a > b ? 1 : 0;
  });
}
