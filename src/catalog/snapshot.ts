import type { PromptEntry, ResourceEntry, TemplateEntry, ToolEntry } from '../core/entry.ts';
import type { HeldReason } from '../core/held.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../core/ids.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import { fingerprintOfText } from './fingerprint.ts';
import { withApprovedTexts, separateHeldEntries } from './separate-held-entries.ts';
import type { ListedEntry, Listing } from './listing.ts';
import { assignExposedNames } from './exposed-names.ts';
import {
  findExposedTemplate,
  findUpstreamTemplate,
  assignExposedUris,
  toPrefixedUri,
  findUnlistedPages,
  buildUriRoutes,
} from './resource-uris.ts';
import { MatchBudget } from './uri-template.ts';
import type { ExposedUri, UpstreamUri, UriRoutes } from './resource-uris.ts';

/**
 * An immutable view of the entries of one or all servers. `mergeListings` sorts maps and arrays by key, in the order of UTF-16 code units;
 * `singleServerSnapshot` keeps the order of the server.
 */
export interface Snapshot {
  /** Changes with the visible entries and their names, but not with held entries or with a server's name, instructions and other facts. */
  readonly digest: Fingerprint;
  /** One digest per list with its own change notification; templates belong to the resources. */
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
  /** Entries that are held for approval, by the names that clients would see: they are not listed and cannot be called. */
  readonly held: HeldEntryMaps;
}

export interface HeldEntryMaps {
  readonly tools: ReadonlyMap<ExposedName, HeldEntry<ToolEntry>>;
  readonly prompts: ReadonlyMap<ExposedName, HeldEntry<PromptEntry>>;
}

export interface HeldEntry<E = ToolEntry | PromptEntry> {
  readonly entry: E;
  readonly reason: HeldReason;
}

export interface MergeOptions {
  /** The text between the upstream and the entry in an exposed name. */
  readonly separator: string;
  /** Whether the policy allows a tool; other tools are neither visible nor held. */
  readonly allows: (upstream: UpstreamName, toolName: string) => boolean;
  /** Overrides the definition that clients see, for example its description. */
  readonly describe?: DescribeTool | undefined;
}

export type DescribeTool = (
  upstream: UpstreamName,
  definition: ToolEntry['definition'],
) => ToolEntry['definition'];

/** The upstream of a resource, with the upstream's own URI. */
export interface ResourceRoute extends UpstreamUri {
  /** Absent if only a tool or a link refers to the resource, and no list contains it. */
  readonly entry?: ResourceEntry | TemplateEntry;
}

/** Merges listings into a snapshot, which does not depend on their order. */
export function mergeListings(listings: readonly Listing[], options: MergeOptions): Snapshot {
  const tools = mergeTools(listings, options);
  const prompts = mergePrompts(listings, options);
  const { resources, unlistedPages } = mergeResources(listings);
  const templates = mergeTemplates(listings);
  return buildSnapshot(listings, { tools, prompts, resources, templates, unlistedPages });
}

/** Returns a snapshot of one upstream with its original names and order. */
export function singleServerSnapshot(
  listing: Listing,
  { allows, describe }: Pick<MergeOptions, 'allows' | 'describe'>,
): Snapshot {
  const { upstream } = listing;
  // With one upstream, names cannot collide.
  const nameOf = ({ name }: { readonly name: string }): ExposedName => name as ExposedName;
  const tools = listing.tools
    .filter(({ definition }) => allows(upstream, definition.name))
    .map((tool) => ({ kind: 'tool' as const, name: nameOf(tool.definition), upstream, ...tool }))
    .map((tool) => withDescription(tool, describe));
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
  const unlistedPages = findUnlistedPages(listing).map((own) => ({ ...own, exposed: own.uri }));
  return buildSnapshot([listing], { tools, prompts, resources, templates, unlistedPages });
}

interface Entries {
  readonly tools: readonly ToolEntry[];
  readonly prompts: readonly PromptEntry[];
  readonly resources: readonly ResourceEntry[];
  readonly templates: readonly TemplateEntry[];
  /** UI pages that tools refer to but that no list contains. */
  readonly unlistedPages: readonly ExposedUri[];
}

function buildSnapshot(listings: readonly Listing[], offered: Entries): Snapshot {
  const { resources, templates, unlistedPages } = offered;
  const { visible: tools, held: heldTools } = separateHeldEntries(offered.tools, listings);
  const { visible: prompts, held: heldPrompts } = separateHeldEntries(offered.prompts, listings);
  return {
    ...buildLists({ tools, prompts, resources, templates }),
    upstreams: new Map(
      sortByKey([...listings], ({ upstream }) => upstream).map((listing) => [
        listing.upstream,
        { facts: withApprovedTexts(listing) },
      ]),
    ),
    held: { tools: heldTools, prompts: heldPrompts },
    routes: buildUriRoutes({
      resources: resources.map(({ upstream, uri, definition }) => ({
        upstream,
        uri: definition.uri,
        exposed: uri,
      })),
      unlistedPages,
      templates,
    }),
  };
}

type Lists = Pick<Snapshot, 'digest' | 'digests' | 'tools' | 'prompts' | 'resources' | 'templates'>;

/** Returns the visible entries by name, with digests that detect changes. */
export function buildLists({ tools, prompts, resources, templates }: Omit<Entries, 'unlistedPages'>): Lists {
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

interface OwnedEntry<Definition> extends ListedEntry<Definition> {
  readonly upstream: UpstreamName;
}

function withUpstream<Definition>(
  listings: readonly Listing[],
  entriesOf: (listing: Listing) => readonly ListedEntry<Definition>[],
): readonly OwnedEntry<Definition>[] {
  return listings.flatMap((listing) =>
    entriesOf(listing).map(({ fingerprint, definition }) => ({
      upstream: listing.upstream,
      fingerprint,
      definition,
    })),
  );
}

/** Applies the configured description. The fingerprint still covers the server's own definition. */
function withDescription(tool: ToolEntry, describe: DescribeTool | undefined): ToolEntry {
  const definition = describe?.(tool.upstream, tool.definition) ?? tool.definition;
  if (definition === tool.definition) return tool;
  return {
    ...tool,
    definition,
    descriptionFingerprint: fingerprintOfText(JSON.stringify(definition['description'])),
  };
}

function mergeTools(
  listings: readonly Listing[],
  { separator, allows, describe }: MergeOptions,
): readonly ToolEntry[] {
  const owned = withUpstream(listings, (listing) => listing.tools);
  const entries = assignNames(owned, separator).map(([name, tool]) => ({
    kind: 'tool' as const,
    name,
    ...tool,
  }));
  return sortByKey(
    entries
      .filter(({ upstream, definition }) => allows(upstream, definition.name))
      .map((tool) => withDescription(tool, describe)),
    ({ name }) => name,
  );
}

function mergePrompts(listings: readonly Listing[], { separator }: MergeOptions): readonly PromptEntry[] {
  const owned = withUpstream(listings, (listing) => listing.prompts);
  const entries = assignNames(owned, separator).map(([name, prompt]) => ({
    kind: 'prompt' as const,
    name,
    ...prompt,
  }));
  return sortByKey(entries, ({ name }) => name);
}

function assignNames<Definition extends { readonly name: string }>(
  owned: readonly OwnedEntry<Definition>[],
  separator: string,
): readonly (readonly [ExposedName, OwnedEntry<Definition>])[] {
  const pairs = owned.map(({ upstream, definition }) => ({ upstream, name: definition.name }));
  const names = assignExposedNames(pairs, separator);
  return owned.flatMap((entry, at) => {
    const name = names[at];
    return name === undefined ? [] : [[name, entry] as const];
  });
}

function mergeResources(listings: readonly Listing[]): {
  readonly resources: readonly ResourceEntry[];
  readonly unlistedPages: readonly ExposedUri[];
} {
  const owned = withUpstream(listings, (listing) => listing.resources);
  const unlistedPages = listings.flatMap(findUnlistedPages);
  const own = owned.map(({ upstream, definition }) => ({ upstream, uri: definition.uri }));
  // URIs are assigned to listed resources and unlisted pages together, so that no two of them get the same
  // URI.
  const uris = assignExposedUris([...own, ...unlistedPages]);
  const entries = owned.map((entry, at) => ({
    kind: 'resource' as const,
    uri: uris[at] ?? entry.definition.uri,
    ...entry,
  }));
  return {
    resources: sortByKey(entries, ({ uri }) => uri),
    unlistedPages: unlistedPages.map((one, at) => ({ ...one, exposed: uris[own.length + at] ?? one.uri })),
  };
}

function mergeTemplates(listings: readonly Listing[]): readonly TemplateEntry[] {
  const owned = withUpstream(listings, (listing) => listing.templates);
  const uris = assignExposedUris(
    owned.map(({ upstream, definition }) => ({ upstream, uri: definition.uriTemplate })),
  );
  const entries = owned.map((entry, at) => ({
    kind: 'template' as const,
    uriTemplate: uris[at] ?? entry.definition.uriTemplate,
    ...entry,
  }));
  return sortByKey(entries, ({ uriTemplate }) => uriTemplate);
}

/**
 * Finds the upstream for a URI from a client: a listed resource, then a UI page that a tool refers to, then
 * the most specific template. If the budget is spent, templates that were not compared yet do not match.
 */
export function findResource(
  snapshot: Snapshot,
  uri: string,
  budget?: MatchBudget,
): ResourceRoute | undefined {
  const resource = snapshot.resources.get(uri);
  if (resource !== undefined)
    return { entry: resource, upstream: resource.upstream, uri: resource.definition.uri };
  const unlistedPage = snapshot.routes.unlistedPages.get(uri);
  if (unlistedPage !== undefined) return unlistedPage;
  const route = findExposedTemplate(snapshot.routes, uri, budget);
  if (route === undefined) return undefined;
  return { entry: route.entry, upstream: route.entry.upstream, uri: uri.slice(route.prefix.length) };
}

/**
 * Returns the URI that clients see for an upstream's `uri` in links and notifications. The URI never routes to another upstream: if it
 * would, or if the budget is spent before this is known, the URI gets a prefix. A prefixed URI that no list contains can be read only by
 * callers that received it as a link.
 */
export function toExposedUri(
  snapshot: Snapshot,
  upstream: UpstreamName,
  uri: string,
  budget = new MatchBudget(),
): string {
  const renamed = snapshot.routes.renamed.get(upstream)?.get(uri);
  if (renamed !== undefined) return renamed;
  const listed = snapshot.resources.get(uri) ?? snapshot.routes.unlistedPages.get(uri);
  if (listed?.upstream === upstream) return uri;
  const template = findUpstreamTemplate(snapshot.routes, { upstream, uri }, budget);
  const exposed = (template?.prefix ?? '') + uri;
  const route = findResource(snapshot, exposed, budget);
  const isOwn = route === undefined || route.upstream === upstream;
  return isOwn && !budget.isSpent ? exposed : toPrefixedUri(upstream, uri);
}

function exposedUriOf(entry: ResourceEntry | TemplateEntry): string {
  return entry.kind === 'resource' ? entry.uri : entry.uriTemplate;
}

function digestOf<Entry extends ToolEntry | PromptEntry | ResourceEntry | TemplateEntry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => string,
): Fingerprint {
  const lines = entries.map((entry) => [
    entry.kind,
    keyOf(entry),
    entry.upstream,
    entry.fingerprint,
    // A changed description in the configuration changes the list, too.
    ...(entry.kind === 'tool' && entry.descriptionFingerprint !== undefined
      ? [entry.descriptionFingerprint]
      : []),
  ]);
  return fingerprintOfText(JSON.stringify(lines));
}

function sortByKey<Item>(items: Item[], keyOf: (item: Item) => string): Item[] {
  return items.sort((one, other) => {
    const a = keyOf(one);
    const b = keyOf(other);
    return a < b ? -1 : a > b ? 1 : 0;
  });
}
