import { exposedUri, findResource } from '../../catalog/snapshot.ts';
import type { ResourceRoute, Snapshot } from '../../catalog/snapshot.ts';
import { prefixedUri } from '../../catalog/resource-uris.ts';
import type { OwnUri } from '../../catalog/resource-uris.ts';
import { Payload } from '../../lib/payload.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';

/** Per caller and server, so that one server's many links do not push out those of another. */
const MAX_LINKS = 1000;
const MAX_CALLERS = 200;
const MAX_URI_LENGTH = 2048;
const OWN_SCHEME = 'trunkline:';

interface Answered {
  readonly caller: string;
  readonly upstream: UpstreamName;
  readonly snapshot: Snapshot;
  /** The resource that was read: what the client called it, and what the server calls it. */
  readonly read?: { readonly asked: string; readonly own: unknown } | undefined;
}

/**
 * Which server gave a caller which URI in a result, so that what no list has can still be read through us. It belongs to
 * the caller and not to a connection: modern clients have none, and older ones lose theirs.
 */
export class GivenLinks {
  readonly #callers = new Map<string, LinksOfCaller>();

  find(caller: string, uri: string): ResourceRoute | undefined {
    return this.#callers.get(caller)?.find(uri);
  }

  /** The answer with links that lead to the server that gave them; the same object where nothing had to change. */
  expose(payload: Payload, answered: Answered): Payload {
    let owns: Set<string> | undefined;
    eachUri(payload.outline, (uri) => {
      if (uri.length <= MAX_URI_LENGTH) (owns ??= new Set()).add(uri);
    });
    if (owns === undefined) return payload;
    const changed = new Map<string, string>();
    for (const own of owns) {
      const exposed = this.#exposed(own, answered);
      if (exposed !== own) changed.set(own, exposed);
    }
    return changed.size === 0
      ? payload
      : Payload.of(withUris(payload.value, (uri) => changed.get(uri) ?? uri));
  }

  #exposed(own: string, { caller, upstream, snapshot, read }: Answered): string {
    if (read !== undefined && own === read.own) return read.asked;
    const plain = exposedUri(snapshot, upstream, own);
    if (findResource(snapshot, plain)?.upstream === upstream) return plain;
    return this.#ofCaller(caller).give(plain, { upstream, uri: own });
  }

  #ofCaller(caller: string): LinksOfCaller {
    const links = this.#callers.get(caller) ?? new LinksOfCaller();
    // The one that asked last is the last to be forgotten.
    this.#callers.delete(caller);
    this.#callers.set(caller, links);
    if (this.#callers.size > MAX_CALLERS) forgetFirst(this.#callers);
    return links;
  }
}

class LinksOfCaller {
  readonly #byExposed = new Map<string, OwnUri>();
  readonly #ofUpstream = new Map<UpstreamName, Map<string, true>>();

  find(exposed: string): OwnUri | undefined {
    return this.#byExposed.get(exposed);
  }

  /** Whoever gives out a URI first has it as it is; another server's gets a prefix, and so does whoever tries to write one. */
  give(plain: string, own: OwnUri): string {
    const holder = this.#byExposed.get(plain);
    const isFree =
      (holder === undefined || holder.upstream === own.upstream) && !own.uri.startsWith(OWN_SCHEME);
    const exposed = isFree ? plain : prefixedUri(own.upstream, own.uri);
    this.#byExposed.set(exposed, own);
    const given = this.#ofUpstream.get(own.upstream) ?? new Map<string, true>();
    this.#ofUpstream.set(own.upstream, given);
    given.delete(exposed);
    given.set(exposed, true);
    const forgotten = given.size > MAX_LINKS ? forgetFirst(given) : undefined;
    if (forgotten !== undefined) this.#byExposed.delete(forgotten);
    return exposed;
  }
}

function forgetFirst<Key>(map: Map<Key, unknown>): Key | undefined {
  for (const key of map.keys()) {
    map.delete(key);
    return key;
  }
  return undefined;
}

/** Results have links in `content` of tools, in the messages of prompts, and in `contents` of what is read. */
function eachUri(result: unknown, visit: (uri: string) => void): void {
  if (!isJsonObject(result)) return;
  for (const block of listOf(result['content'])) visitBlock(block, visit);
  for (const read of listOf(result['contents'])) visitUri(read, visit);
  for (const message of listOf(result['messages']))
    if (isJsonObject(message)) visitBlock(message['content'], visit);
}

const NOTHING: readonly unknown[] = [];

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NOTHING;
}

function visitBlock(block: unknown, visit: (uri: string) => void): void {
  if (!isJsonObject(block)) return;
  if (block['type'] === 'resource_link') visitUri(block, visit);
  else if (block['type'] === 'resource') visitUri(block['resource'], visit);
}

function visitUri(value: unknown, visit: (uri: string) => void): void {
  if (isJsonObject(value) && typeof value['uri'] === 'string') visit(value['uri']);
}

function withUris(result: unknown, uriOf: (uri: string) => string): unknown {
  if (!isJsonObject(result)) return result;
  const { content, messages, contents } = result;
  const inMessage = (message: unknown): unknown =>
    isJsonObject(message) ? { ...message, content: inBlock(message['content'], uriOf) } : message;
  return {
    ...result,
    ...(Array.isArray(content) && { content: content.map((one: unknown) => inBlock(one, uriOf)) }),
    ...(Array.isArray(contents) && { contents: contents.map((one: unknown) => withUri(one, uriOf)) }),
    ...(Array.isArray(messages) && { messages: messages.map(inMessage) }),
  };
}

function inBlock(block: unknown, uriOf: (uri: string) => string): unknown {
  if (!isJsonObject(block)) return block;
  if (block['type'] === 'resource_link') return withUri(block, uriOf);
  if (block['type'] !== 'resource') return block;
  return { ...block, resource: withUri(block['resource'], uriOf) };
}

function withUri(value: unknown, uriOf: (uri: string) => string): unknown {
  if (!isJsonObject(value) || typeof value['uri'] !== 'string') return value;
  const uri = uriOf(value['uri']);
  const changed: JsonObject = uri === value['uri'] ? value : { ...value, uri };
  return changed;
}
