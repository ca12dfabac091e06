import { canonicalJson, canonicalJsonSteps } from '../core/lib/canonical-json.ts';
import { isEqualJson } from '../core/lib/is-equal-json.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from '../core/entry.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import type { HoldAssessment } from '../core/held.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { ServerFacts } from '../core/server-facts.ts';
import { fingerprintOfText } from './fingerprint.ts';

/**
 * A definition with its fingerprint. The fingerprint is computed once, when a listing arrives, and is stored
 * with the listing.
 */
export interface ListedEntry<Definition> {
  readonly fingerprint: Fingerprint;
  readonly definition: Definition;
}

/** The last listing of one upstream. */
export interface Listing {
  readonly upstream: UpstreamName;
  /** The fingerprint of the upstream's configuration at the time of the listing. */
  readonly config: Fingerprint;
  /** When the listing was fetched, in milliseconds since the epoch. */
  readonly at: number;
  readonly facts: ServerFacts;
  readonly tools: readonly ListedEntry<ToolDefinition>[];
  readonly prompts: readonly ListedEntry<PromptDefinition>[];
  readonly resources: readonly ListedEntry<ResourceDefinition>[];
  readonly templates: readonly ListedEntry<TemplateDefinition>[];
  /**
   * The entries that are held for approval; absent if the listing was not assessed. Stored listings have this
   * field, so its name must not change.
   */
  readonly judged?: HoldAssessment;
}

/** The JSON of an upstream's lists, all pages joined. */
export interface RawEntries {
  readonly facts: ServerFacts;
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
}

/** The protocol recommends at most 128 characters. */
const MAX_NAME_CHARS = 1000;

export interface ListingReadResult {
  readonly listing: Listing;
  /** The number of entries without a usable name or URI, or nested too deeply to be serialized. */
  readonly unreadable: number;
  /** The number of entries that were skipped because an earlier entry of the list has the same name or URI. */
  readonly duplicates: number;
}

/**
 * Reads a listing and skips invalid entries, because clients built on the SDK reject a whole list that contains one. Entries that equal
 * those of `known` are reused, because computing fingerprints is most of the cost. Yields often, so that other work can run in between.
 */
export function* readListing(
  raw: RawEntries,
  about: { readonly upstream: UpstreamName; readonly config: Fingerprint; readonly at: number },
  known?: Listing,
): Generator<undefined, ListingReadResult> {
  const count = { unreadable: 0, duplicates: 0 };
  const listing = {
    ...about,
    facts: raw.facts,
    tools: yield* readEntries(raw.tools, count, parseTool, {
      known: known?.tools,
      keyOf: (tool) => tool.name,
    }),
    prompts: yield* readEntries(raw.prompts, count, parsePrompt, {
      known: known?.prompts,
      keyOf: ({ name }) => name,
    }),
    resources: yield* readEntries(raw.resources, count, parseResource, {
      known: known?.resources,
      keyOf: (resource) => resource.uri,
    }),
    templates: yield* readEntries(raw.templates, count, parseTemplate, {
      known: known?.templates,
      keyOf: (template) => template.uriTemplate,
    }),
  };
  return { listing, ...count };
}

function* readEntries<Definition>(
  raw: readonly unknown[],
  count: { unreadable: number; duplicates: number },
  parse: (entry: JsonObject) => Definition | undefined,
  {
    known = [],
    keyOf,
  }: {
    readonly known: readonly ListedEntry<Definition>[] | undefined;
    readonly keyOf: (definition: Definition) => string;
  },
): Generator<undefined, readonly ListedEntry<Definition>[]> {
  const knownByKey = new Map(known.map((entry) => [keyOf(entry.definition), entry]));
  const found = new Map<string, ListedEntry<Definition>>();
  for (const entry of raw) {
    const definition = isJsonObject(entry) ? parse(entry) : undefined;
    const listed =
      definition === undefined
        ? undefined
        : yield* createEntry(definition, knownByKey.get(keyOf(definition)));
    if (listed === undefined) count.unreadable++;
    else if (found.has(keyOf(listed.definition))) count.duplicates++;
    else found.set(keyOf(listed.definition), listed);
    yield;
  }
  return [...found.values()];
}

/** Returns undefined for an entry that is nested too deeply to be serialized, because it could not be sent to clients. */
function* createEntry<Definition>(
  definition: Definition,
  known: ListedEntry<Definition> | undefined,
): Generator<undefined, ListedEntry<Definition> | undefined> {
  try {
    if (known !== undefined && isEqualJson(known.definition, definition)) return known;
    return { fingerprint: fingerprintOfText(yield* canonicalJsonSteps(definition)), definition };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function parseTool(entry: JsonObject): ToolDefinition | undefined {
  const { name, inputSchema } = entry;
  if (!isUsableName(name)) return undefined;
  if (isJsonObject(inputSchema) && 'type' in inputSchema) return { ...entry, name };
  // The protocol requires an input schema with a type, and clients reject tools without one.
  const members = isJsonObject(inputSchema) ? inputSchema : {};
  return { ...entry, name, inputSchema: { type: 'object', ...members } };
}

function parsePrompt(entry: JsonObject): PromptDefinition | undefined {
  const { name } = entry;
  return isUsableName(name) ? { ...entry, name } : undefined;
}

/** Names are hashed, compared and indexed many times, and no model can call a tool with a name of kilobytes. */
function isUsableName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_NAME_CHARS;
}

function parseResource(entry: JsonObject): ResourceDefinition | undefined {
  return typeof entry['uri'] === 'string' ? { ...entry, uri: entry['uri'] } : undefined;
}

function parseTemplate(entry: JsonObject): TemplateDefinition | undefined {
  const { uriTemplate } = entry;
  return typeof uriTemplate === 'string' ? { ...entry, uriTemplate } : undefined;
}

const KINDS = ['tools', 'prompts', 'resources', 'templates'] as const;

/** Whether two listings differ at most in the time at which they were made. */
export function isSameListing(one: Listing, other: Listing): boolean {
  return isSameOffer(one, other) && canonicalJson(one.judged) === canonicalJson(other.judged);
}

/** Whether two listings have the same configuration, facts and entries, regardless of time and assessment. */
export function isSameOffer(one: Listing, other: Listing): boolean {
  return (
    one.config === other.config &&
    canonicalJson(one.facts) === canonicalJson(other.facts) &&
    KINDS.every(
      (kind) =>
        one[kind].length === other[kind].length &&
        one[kind].every((entry, at) => entry.fingerprint === other[kind][at]?.fingerprint),
    )
  );
}

/** Reuses the entry objects of `known` for equal definitions, so data derived from them stays valid. */
export function withKnownEntries(listing: Listing, known: Listing): Listing {
  return {
    ...listing,
    tools: reuse(listing.tools, known.tools),
    prompts: reuse(listing.prompts, known.prompts),
    resources: reuse(listing.resources, known.resources),
    templates: reuse(listing.templates, known.templates),
  };
}

function reuse<Entry extends ListedEntry<unknown>>(
  entries: readonly Entry[],
  known: readonly Entry[],
): readonly Entry[] {
  const byFingerprint = new Map(known.map((entry) => [entry.fingerprint, entry]));
  return entries.map((entry) => byFingerprint.get(entry.fingerprint) ?? entry);
}

/** Validates a listing from the warm file or the database, which may be damaged or edited by hand. */
export function isListing(value: unknown): value is Listing {
  return (
    isJsonObject(value) &&
    typeof value['upstream'] === 'string' &&
    typeof value['config'] === 'string' &&
    typeof value['at'] === 'number' &&
    isServerFacts(value['facts']) &&
    areListedEntries(value['tools'], 'name') &&
    areListedEntries(value['prompts'], 'name') &&
    areListedEntries(value['resources'], 'uri') &&
    areListedEntries(value['templates'], 'uriTemplate') &&
    (value['judged'] === undefined || isHoldAssessment(value['judged']))
  );
}

function isHoldAssessment(value: unknown): value is HoldAssessment {
  return (
    isJsonObject(value) &&
    typeof value['basis'] === 'string' &&
    areStringPairs(value['tools']) &&
    areStringPairs(value['prompts']) &&
    (value['words'] === undefined ||
      (isJsonObject(value['words']) && isJsonObject(value['words']['approved'])))
  );
}

function areStringPairs(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((pair: unknown) => Array.isArray(pair) && pair.every((part) => typeof part === 'string'))
  );
}

function isServerFacts(value: unknown): value is ServerFacts {
  return (
    isJsonObject(value) &&
    (value['era'] === 'legacy' || value['era'] === 'modern') &&
    typeof value['protocol'] === 'string' &&
    isJsonObject(value['info']) &&
    isJsonObject(value['capabilities'])
  );
}

function areListedEntries(value: unknown, key: string): boolean {
  return (
    Array.isArray(value) &&
    value.every(
      (entry: unknown) =>
        isJsonObject(entry) &&
        typeof entry['fingerprint'] === 'string' &&
        isJsonObject(entry['definition']) &&
        typeof entry['definition'][key] === 'string',
    )
  );
}
