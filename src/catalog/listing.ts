import { canonicalJson } from '../lib/canonical-json.ts';
import { isSameJson } from '../lib/same-json.ts';
import type {
  PromptDefinition,
  ResourceDefinition,
  TemplateDefinition,
  ToolDefinition,
} from '../model/entry.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { Judgement } from '../model/held.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import { fingerprintOf } from './fingerprint.ts';

/** Fingerprints are taken when a listing arrives, and kept with it: a warm start takes none. */
export interface Listed<Definition> {
  readonly fingerprint: Fingerprint;
  readonly definition: Definition;
}

/** What one upstream last said it offers. */
export interface Listing {
  readonly upstream: UpstreamName;
  /** Of the config that it was listed with. */
  readonly config: Fingerprint;
  readonly at: number;
  readonly facts: ServerFacts;
  readonly tools: readonly Listed<ToolDefinition>[];
  readonly prompts: readonly Listed<PromptDefinition>[];
  readonly resources: readonly Listed<ResourceDefinition>[];
  readonly templates: readonly Listed<TemplateDefinition>[];
  /** What of it is held back; absent where nobody judges. */
  readonly judged?: Judgement;
}

/** JSON as an upstream sent it, all pages joined. */
export interface RawEntries {
  readonly facts: ServerFacts;
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
}

export interface ReadListing {
  readonly listing: Listing;
  /** Entries without a name or URI, or nested too deep to be written again. */
  readonly unreadable: number;
  /** Entries whose name or URI an earlier one of the same upstream has. */
  readonly duplicates: number;
}

/**
 * One bad entry costs that entry only; clients built on the SDK would refuse the whole list. Entries that are as `known` has them are
 * taken from there, since taking fingerprints is most of what reading a list costs.
 */
export function readListing(
  raw: RawEntries,
  about: { readonly upstream: UpstreamName; readonly config: Fingerprint; readonly at: number },
  known?: Listing,
): ReadListing {
  const count = { unreadable: 0, duplicates: 0 };
  const listing = {
    ...about,
    facts: raw.facts,
    tools: readEntries(raw.tools, count, toolOf, { known: known?.tools, keyOf: (tool) => tool.name }),
    prompts: readEntries(raw.prompts, count, promptOf, { known: known?.prompts, keyOf: ({ name }) => name }),
    resources: readEntries(raw.resources, count, resourceOf, {
      known: known?.resources,
      keyOf: (resource) => resource.uri,
    }),
    templates: readEntries(raw.templates, count, templateOf, {
      known: known?.templates,
      keyOf: (template) => template.uriTemplate,
    }),
  };
  return { listing, ...count };
}

function readEntries<Definition>(
  raw: readonly unknown[],
  count: { unreadable: number; duplicates: number },
  read: (entry: JsonObject) => Definition | undefined,
  {
    known = [],
    keyOf,
  }: {
    readonly known: readonly Listed<Definition>[] | undefined;
    readonly keyOf: (definition: Definition) => string;
  },
): readonly Listed<Definition>[] {
  const before = new Map(known.map((entry) => [keyOf(entry.definition), entry]));
  const found = new Map<string, Listed<Definition>>();
  for (const entry of raw) {
    const definition = isJsonObject(entry) ? read(entry) : undefined;
    const listed =
      definition === undefined ? undefined : tryListed(definition, before.get(keyOf(definition)));
    if (listed === undefined) count.unreadable++;
    else if (found.has(keyOf(listed.definition))) count.duplicates++;
    else found.set(keyOf(listed.definition), listed);
  }
  return [...found.values()];
}

/** JSON can be parsed at depths at which it cannot be written: such an entry could not be passed on. */
function tryListed<Definition>(
  definition: Definition,
  known: Listed<Definition> | undefined,
): Listed<Definition> | undefined {
  try {
    if (known !== undefined && isSameJson(known.definition, definition)) return known;
    return { fingerprint: fingerprintOf(definition), definition };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function toolOf(entry: JsonObject): ToolDefinition | undefined {
  const { name, inputSchema } = entry;
  if (typeof name !== 'string') return undefined;
  if (isJsonObject(inputSchema) && 'type' in inputSchema) return { ...entry, name };
  const members = isJsonObject(inputSchema) ? inputSchema : {};
  return { ...entry, name, inputSchema: { type: 'object', ...members } };
}

function promptOf(entry: JsonObject): PromptDefinition | undefined {
  return typeof entry['name'] === 'string' ? { ...entry, name: entry['name'] } : undefined;
}

function resourceOf(entry: JsonObject): ResourceDefinition | undefined {
  return typeof entry['uri'] === 'string' ? { ...entry, uri: entry['uri'] } : undefined;
}

function templateOf(entry: JsonObject): TemplateDefinition | undefined {
  const { uriTemplate } = entry;
  return typeof uriTemplate === 'string' ? { ...entry, uriTemplate } : undefined;
}

const KINDS = ['tools', 'prompts', 'resources', 'templates'] as const;

/** Whether nothing differs but the time. */
export function saysTheSame(one: Listing, other: Listing): boolean {
  return offersTheSame(one, other) && canonicalJson(one.judged) === canonicalJson(other.judged);
}

/** Whether the upstream said the same, whatever became of it. */
export function offersTheSame(one: Listing, other: Listing): boolean {
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

/** Equal definitions stay the same objects, so that what was derived from them stays valid. */
export function withKnownEntries(listing: Listing, known: Listing): Listing {
  return {
    ...listing,
    tools: reuse(listing.tools, known.tools),
    prompts: reuse(listing.prompts, known.prompts),
    resources: reuse(listing.resources, known.resources),
    templates: reuse(listing.templates, known.templates),
  };
}

function reuse<Entry extends Listed<unknown>>(
  entries: readonly Entry[],
  known: readonly Entry[],
): readonly Entry[] {
  const byFingerprint = new Map(known.map((entry) => [entry.fingerprint, entry]));
  return entries.map((entry) => byFingerprint.get(entry.fingerprint) ?? entry);
}

/** Checks what comes back from our own files, which a person or a full disk may have changed. */
export function isListing(value: unknown): value is Listing {
  return (
    isJsonObject(value) &&
    typeof value['upstream'] === 'string' &&
    typeof value['config'] === 'string' &&
    typeof value['at'] === 'number' &&
    isFacts(value['facts']) &&
    areListed(value['tools'], 'name') &&
    areListed(value['prompts'], 'name') &&
    areListed(value['resources'], 'uri') &&
    areListed(value['templates'], 'uriTemplate') &&
    (value['judged'] === undefined || isJudgement(value['judged']))
  );
}

function isJudgement(value: unknown): value is Judgement {
  return (
    isJsonObject(value) &&
    typeof value['basis'] === 'string' &&
    arePairs(value['tools']) &&
    arePairs(value['prompts']) &&
    (value['words'] === undefined ||
      (isJsonObject(value['words']) && isJsonObject(value['words']['approved'])))
  );
}

function arePairs(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((pair: unknown) => Array.isArray(pair) && pair.every((part) => typeof part === 'string'))
  );
}

function isFacts(value: unknown): value is ServerFacts {
  return (
    isJsonObject(value) &&
    (value['era'] === 'legacy' || value['era'] === 'modern') &&
    typeof value['protocol'] === 'string' &&
    isJsonObject(value['info']) &&
    isJsonObject(value['capabilities'])
  );
}

function areListed(value: unknown, key: string): boolean {
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
