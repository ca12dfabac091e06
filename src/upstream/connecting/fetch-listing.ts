import type { Cancellation } from '../../core/lib/cancellation.ts';
import { stringifyExact } from '../../core/lib/exact-json.ts';
import { RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ServerFacts } from '../../core/server-facts.ts';
import { META_KEYS, RPC_ERROR_CODES } from '../../protocol/era.ts';
import { findHeaderParams } from '../../protocol/http/param-headers.ts';
import type { Payload } from '../../core/lib/payload.ts';

/** The entries that a server lists, before validation. */
export interface RawListing {
  readonly facts: ServerFacts;
  readonly tools: readonly unknown[];
  readonly prompts: readonly unknown[];
  readonly resources: readonly unknown[];
  readonly templates: readonly unknown[];
  /** Whether a limit was reached and the rest of a list is missing. */
  readonly isCut: boolean;
  /** The number of tools that were omitted because they cannot be called as the protocol requires. */
  readonly unusable?: number;
}

type SendRequest = (method: string, params: JsonObject, cancellation: Cancellation) => Promise<Payload>;

const MAX_PAGES = 200;
const MAX_ENTRIES = 20_000;
/** Lower than `MAX_ENTRIES`, because every link in a result may have to be compared with every template of its server. */
const MAX_TEMPLATES = 500;
const MAX_META_CHARS = 8192;

/** Fetches all pages of all lists that the server declares, up to a limit. */
export async function fetchListing(
  send: SendRequest,
  facts: ServerFacts,
  cancellation: Cancellation,
): Promise<RawListing> {
  const { capabilities } = facts;
  const list = (capability: string, method: string, member: string): Promise<Pages> =>
    capability in capabilities
      ? fetchPages(send, method, member, cancellation)
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
      unserved: unserved.length > 0 ? unserved : undefined,
      listMeta: Object.keys(listMeta).length > 0 ? listMeta : undefined,
    },
    tools: tools.entries,
    prompts: prompts.entries,
    resources: resources.entries,
    templates: templates.entries,
    isCut: tools.isCut || prompts.isCut || resources.isCut || templates.isCut,
  };
}

/** Omits tools with invalid `x-mcp-header` annotations: over HTTP a modern server requires the annotated arguments in headers. */
export function omitUnusableTools(transport: 'stdio' | 'http' | 'cli', listing: RawListing): RawListing {
  if (transport !== 'http' || listing.facts.era !== 'modern') return listing;
  const tools = listing.tools.filter(
    (tool) => !isJsonObject(tool) || findHeaderParams(tool['inputSchema']) !== undefined,
  );
  return { ...listing, tools, unusable: listing.tools.length - tools.length };
}

interface Pages {
  readonly entries: readonly unknown[];
  readonly isCut: boolean;
  /** The method, if the server does not implement it. */
  readonly unserved?: string;
  /** The method and the `_meta` of its first page. */
  readonly meta?: readonly [string, JsonObject] | undefined;
}

async function fetchPages(
  send: SendRequest,
  method: string,
  member: string,
  cancellation: Cancellation,
): Promise<Pages> {
  const entries: unknown[] = [];
  const maxEntries = member === 'resourceTemplates' ? MAX_TEMPLATES : MAX_ENTRIES;
  const seen = new Set<string>();
  let cursor: string | undefined;
  let meta: Pages['meta'];
  for (let page = 0; page < MAX_PAGES; page++) {
    let result: unknown;
    try {
      result = (await send(method, cursor === undefined ? {} : { cursor }, cancellation)).value;
    } catch (error) {
      // Many servers declare `resources` but do not implement templates.
      if (error instanceof RpcError && error.body.code === RPC_ERROR_CODES.methodNotFound)
        return { entries, isCut: false, unserved: method };
      throw error;
    }
    if (!isJsonObject(result)) return { entries, isCut: true };
    const { [member]: found, nextCursor } = result;
    if (page === 0) meta = readListMeta(method, result['_meta']);
    if (Array.isArray(found)) for (const entry of found) entries.push(entry);
    if (entries.length > maxEntries) return { entries: entries.slice(0, maxEntries), isCut: true };
    if (typeof nextCursor !== 'string' || nextCursor === '') return { entries, isCut: false, meta };
    // A repeated cursor would lead to an endless loop.
    if (seen.has(nextCursor)) return { entries, isCut: true, meta };
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return { entries, isCut: true };
}

/** Returns the `_meta` of a list without the server info, which the gateway adds itself. Omits a `_meta` above the size limit. */
function readListMeta(method: string, meta: unknown): Pages['meta'] {
  if (!isJsonObject(meta)) return undefined;
  const { [META_KEYS.serverInfo]: _, ...rest } = meta;
  const isReasonable = Object.keys(rest).length > 0 && stringifyExact(rest).length <= MAX_META_CHARS;
  return isReasonable ? [method, rest] : undefined;
}
