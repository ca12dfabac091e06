import { toExposedUri, findResource } from '../../catalog/snapshot.ts';
import type { Snapshot } from '../../catalog/snapshot.ts';
import { toPrefixedUri } from '../../catalog/resource-uris.ts';
import { MatchBudget } from '../../catalog/uri-template.ts';
import { callerIdentity } from '../../core/caller.ts';
import type { Caller } from '../../core/caller.ts';
import type { UpstreamUri } from '../../catalog/resource-uris.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** Maximum number of links per caller and server, so that the links of one server do not evict those of another. */
const MAX_LINKS = 1000;
const MAX_CALLERS = 200;
const MAX_URI_LENGTH = 2048;
/** Further links of a result are not rewritten. Most of them could not be read anyway, since only `MAX_LINKS` per server are kept. */
const MAX_URIS_PER_RESULT = 10_000;
const GATEWAY_SCHEME = 'trunkline:';
/** Match budget for all links of one result together. Spending it takes about ten milliseconds. */
const STEPS_PER_RESULT = 2_000_000;

interface ResultContext {
  readonly caller: Caller;
  readonly upstream: UpstreamName;
  readonly snapshot: Snapshot;
  /** The resource that was read, as the client and as the upstream name it. */
  readonly read?: { readonly requestedUri: string; readonly upstreamUri: unknown } | undefined;
}

/**
 * Remembers which server returned which resource link to a caller, so that the caller can read the resource although no server lists it.
 * Links belong to the caller rather than to a connection, because modern clients have no connection and older ones may lose theirs. The
 * key of a caller includes its profile and permissions, so a link cannot be followed with different permissions.
 */
export class ResourceLinkRoutes {
  readonly #callers = new Map<string, CallerLinks>();

  find(caller: Caller, uri: string): UpstreamUri | undefined {
    return this.#callers.size === 0 ? undefined : this.#callers.get(callerIdentity(caller))?.find(uri);
  }

  /**
   * Rewrites the links of a result where necessary, so that each leads to the server that returned it. Returns the same object if no link
   * had to change. Only the outline is searched, because most results contain no links and need not be parsed.
   */
  expose(payload: Payload, context: ResultContext): Payload {
    let uris: Set<string> | undefined;
    forEachUri(payload.outline, (uri) => {
      if (uri.length <= MAX_URI_LENGTH && (uris === undefined || uris.size < MAX_URIS_PER_RESULT))
        (uris ??= new Set()).add(uri);
    });
    if (uris === undefined) return payload;
    const budget = new MatchBudget(STEPS_PER_RESULT);
    const replacements = new Map<string, string>();
    for (const uri of uris) {
      const exposed = this.#exposeUri(uri, context, budget);
      if (exposed !== uri) replacements.set(uri, exposed);
    }
    return replacements.size === 0
      ? payload
      : Payload.of(replaceUris(payload.value, (uri) => replacements.get(uri) ?? uri));
  }

  #exposeUri(uri: string, context: ResultContext, budget: MatchBudget): string {
    const { caller, upstream, snapshot, read } = context;
    if (read !== undefined && uri === read.upstreamUri) return read.requestedUri;
    // Once the budget is spent, `toExposedUri` returns a prefixed URI, which is stored as a link like every other unlisted URI.
    const listedUri = toExposedUri(snapshot, upstream, uri, budget);
    if (findResource(snapshot, listedUri, budget)?.upstream === upstream) return listedUri;
    return this.#linksOf(caller).add(listedUri, { upstream, uri });
  }

  #linksOf(caller: Caller): CallerLinks {
    const key = callerIdentity(caller);
    const links = this.#callers.get(key) ?? new CallerLinks();
    // Moves the caller to the end, so that the least recently active caller is evicted first.
    this.#callers.delete(key);
    this.#callers.set(key, links);
    if (this.#callers.size > MAX_CALLERS) deleteFirst(this.#callers);
    return links;
  }
}

class CallerLinks {
  readonly #routesByUri = new Map<string, UpstreamUri>();
  readonly #urisByUpstream = new Map<UpstreamName, Map<string, true>>();

  find(uri: string): UpstreamUri | undefined {
    return this.#routesByUri.get(uri);
  }

  /**
   * Adds a link and returns its exposed URI. The first server that returns a URI keeps it unchanged. The same URI from another server gets
   * a prefix, and so does a URI with the gateway's own scheme, which could imitate a prefix.
   */
  add(uri: string, route: UpstreamUri): string {
    const owner = this.#routesByUri.get(uri);
    const isAvailable =
      (owner === undefined || owner.upstream === route.upstream) && !route.uri.startsWith(GATEWAY_SCHEME);
    const exposed = isAvailable ? uri : toPrefixedUri(route.upstream, route.uri);
    this.#routesByUri.set(exposed, route);
    const uris = this.#urisByUpstream.get(route.upstream) ?? new Map<string, true>();
    this.#urisByUpstream.set(route.upstream, uris);
    // Moves the URI to the end, so that the least recently returned one is evicted first.
    uris.delete(exposed);
    uris.set(exposed, true);
    const evicted = uris.size > MAX_LINKS ? deleteFirst(uris) : undefined;
    if (evicted !== undefined) this.#routesByUri.delete(evicted);
    return exposed;
  }
}

function deleteFirst<Key>(map: Map<Key, unknown>): Key | undefined {
  for (const key of map.keys()) {
    map.delete(key);
    return key;
  }
  return undefined;
}

/** Visits the URIs in `content` of tool results, in the messages of prompts, and in `contents` of resources. */
function forEachUri(result: unknown, visit: (uri: string) => void): void {
  if (!isJsonObject(result)) return;
  for (const block of arrayOf(result['content'])) visitBlock(block, visit);
  for (const contents of arrayOf(result['contents'])) visitUri(contents, visit);
  for (const message of arrayOf(result['messages']))
    if (isJsonObject(message)) visitBlock(message['content'], visit);
}

const EMPTY: readonly unknown[] = [];

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : EMPTY;
}

function visitBlock(block: unknown, visit: (uri: string) => void): void {
  if (!isJsonObject(block)) return;
  if (block['type'] === 'resource_link') visitUri(block, visit);
  else if (block['type'] === 'resource') visitUri(block['resource'], visit);
}

function visitUri(value: unknown, visit: (uri: string) => void): void {
  if (isJsonObject(value) && typeof value['uri'] === 'string') visit(value['uri']);
}

function replaceUris(result: unknown, uriOf: (uri: string) => string): unknown {
  if (!isJsonObject(result)) return result;
  const { content, messages, contents } = result;
  const replaceInMessage = (message: unknown): unknown =>
    isJsonObject(message) ? { ...message, content: replaceInBlock(message['content'], uriOf) } : message;
  return {
    ...result,
    ...(Array.isArray(content) && { content: content.map((block: unknown) => replaceInBlock(block, uriOf)) }),
    ...(Array.isArray(contents) && { contents: contents.map((item: unknown) => replaceUri(item, uriOf)) }),
    ...(Array.isArray(messages) && { messages: messages.map(replaceInMessage) }),
  };
}

function replaceInBlock(block: unknown, uriOf: (uri: string) => string): unknown {
  if (!isJsonObject(block)) return block;
  if (block['type'] === 'resource_link') return replaceUri(block, uriOf);
  if (block['type'] !== 'resource') return block;
  return { ...block, resource: replaceUri(block['resource'], uriOf) };
}

function replaceUri(value: unknown, uriOf: (uri: string) => string): unknown {
  if (!isJsonObject(value) || typeof value['uri'] !== 'string') return value;
  const uri = uriOf(value['uri']);
  const replaced: JsonObject = uri === value['uri'] ? value : { ...value, uri };
  return replaced;
}
