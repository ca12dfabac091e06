import type { Cancellation } from '../../lib/cancellation.ts';
import { stringifyExact } from '../../lib/exact-json.ts';
import { RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ServerFacts } from '../../model/server-facts.ts';
import { META, RPC } from '../../wire/era.ts';
import { headerParams } from '../../wire/http/param-headers.ts';
import type { Payload } from '../../lib/payload.ts';

/** What an upstream said it offers, unread. */
export interface RawListing {
  readonly facts: ServerFacts;
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  /** A bound was met: what came after it is missing. */
  readonly isCut: boolean;
  /** So many tools were left out, because their calls could not be made as the protocol wants it. */
  readonly unusable?: number;
}

type Ask = (method: string, params: JsonObject, cancellation: Cancellation) => Promise<Payload>;

const MAX_PAGES = 200;
const MAX_ENTRIES = 20_000;
const MAX_META_CHARS = 8192;

/** Follows every page of every list that the server declared, within bounds. */
export async function listEntries(
  ask: Ask,
  facts: ServerFacts,
  cancellation: Cancellation,
): Promise<RawListing> {
  const { capabilities } = facts;
  const list = (capability: string, method: string, member: string): Promise<Pages> =>
    capability in capabilities
      ? allPages(ask, method, member, cancellation)
      : Promise.resolve({ entries: [], isCut: false });
  const [tools, prompts, resources, templates] = await Promise.all([
    list('tools', 'tools/list', 'tools'),
    list('prompts', 'prompts/list', 'prompts'),
    list('resources', 'resources/list', 'resources'),
    list('resources', 'resources/templates/list', 'resourceTemplates'),
  ]);
  const unserved = [tools, prompts, resources, templates].flatMap(({ unserved: method }) => method ?? []);
  const listMeta = Object.fromEntries(
    [tools, prompts, resources, templates].flatMap(({ meta }) => (meta === undefined ? [] : [meta])),
  );
  return {
    facts: {
      ...facts,
      ...(unserved.length > 0 && { unserved }),
      ...(Object.keys(listMeta).length > 0 && { listMeta }),
    },
    tools: tools.entries,
    prompts: prompts.entries,
    resources: resources.entries,
    templates: templates.entries,
    isCut: tools.isCut || prompts.isCut || resources.isCut || templates.isCut,
  };
}

/** Over HTTP a modern server expects annotated arguments in headers, which a broken annotation makes impossible. */
export function usableOver(transport: 'stdio' | 'http' | 'cli', listing: RawListing): RawListing {
  if (transport !== 'http' || listing.facts.era !== 'modern') return listing;
  const tools = listing.tools.filter(
    (tool) => !isJsonObject(tool) || headerParams(tool['inputSchema']) !== undefined,
  );
  return { ...listing, tools, unusable: listing.tools.length - tools.length };
}

interface Pages {
  readonly entries: readonly unknown[];
  readonly isCut: boolean;
  /** The method, when the server does not know it. */
  readonly unserved?: string;
  /** The method and what came with its first page. */
  readonly meta?: readonly [string, JsonObject];
}

async function allPages(
  ask: Ask,
  method: string,
  member: string,
  cancellation: Cancellation,
): Promise<Pages> {
  const entries: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let about: Pick<Pages, 'meta'> = {};
  for (let page = 0; page < MAX_PAGES; page++) {
    let result: unknown;
    try {
      result = (await ask(method, cursor === undefined ? {} : { cursor }, cancellation)).value;
    } catch (error) {
      // Declared but not there: many servers declare `resources` and know no templates.
      if (error instanceof RpcError && error.body.code === RPC.methodNotFound)
        return { entries, isCut: false, unserved: method };
      throw error;
    }
    if (!isJsonObject(result)) return { entries, isCut: true };
    const { [member]: found, nextCursor } = result;
    if (page === 0) about = metaOf(method, result['_meta']);
    if (Array.isArray(found)) for (const entry of found) entries.push(entry);
    if (entries.length > MAX_ENTRIES) return { entries: entries.slice(0, MAX_ENTRIES), isCut: true };
    if (typeof nextCursor !== 'string' || nextCursor === '') return { entries, isCut: false, ...about };
    if (seen.has(nextCursor)) return { entries, isCut: true, ...about };
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { entries, isCut: true };
}

/** What we say ourselves is not kept, and neither is what is larger than any list needs. */
function metaOf(method: string, meta: unknown): Pick<Pages, 'meta'> {
  if (!isJsonObject(meta)) return {};
  const { [META.serverInfo]: _, ...rest } = meta;
  const isKept = Object.keys(rest).length > 0 && stringifyExact(rest).length <= MAX_META_CHARS;
  return isKept ? { meta: [method, rest] } : {};
}
