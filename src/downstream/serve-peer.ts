import { randomUUID } from 'node:crypto';
import type { Exposure } from '../exposure/exposure.ts';
import type { CallRequest, Gateway } from '../gateway/gateway.ts';
import type { ChangedLists, View } from '../gateway/view.ts';
import { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import type { Logger } from '../observe/log.ts';
import { withoutEnvelope } from '../wire/envelope.ts';
import { eraOf, LEGACY_VERSIONS, META, MODERN_VERSION, NEWEST_LEGACY, RPC } from '../wire/era.ts';
import type { ClientChannel, Connection, IncomingRequest } from '../wire/serving.ts';
import { KnownLists } from './known-lists.ts';
import { Listeners } from './listeners.ts';
import type { ListTexts } from './lists.ts';
import { resultForEra, toRpcError, toToolResult } from './to-wire.ts';

export interface Binding {
  readonly gateway: Gateway;
  readonly exposure: Exposure;
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly lists: ListTexts;
  readonly log: Logger;
  readonly version: string;
}

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
};

/** The side that answers one client. Cheap and without side effects until the client asks for something. */
export function servePeer(binding: Binding): Connection {
  return new ClientSession(binding);
}

class ClientSession implements Connection {
  readonly #binding: Binding;
  readonly #listeners: Listeners;
  readonly #known = new KnownLists();
  readonly #id = randomUUID();

  constructor(binding: Binding) {
    this.#binding = binding;
    this.#listeners = new Listeners(binding.gateway, binding.caller);
  }

  request(request: IncomingRequest): void {
    const era = eraOf(request.method, request.params);
    try {
      const answer = era === 'modern' ? this.#modern(request) : this.#legacy(request);
      if (answer instanceof Payload) request.result(answer);
      else
        answer
          ?.then((payload) => request.result(payload))
          .catch((error: unknown) => this.#fail(request, error, era));
    } catch (error) {
      this.#fail(request, error, era);
    }
  }

  notification(): void {
    // Nothing a client tells us outside of requests changes what we do: cancellation is the transport's business.
  }

  close(): void {
    this.#listeners.close();
    this.#binding.gateway.endSession(this.#id);
  }

  /** A promise, a payload, or nothing where the request stays open. */
  #legacy(request: IncomingRequest): Promise<Payload> | Payload | undefined {
    const { method, params = {} } = request;
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'ping':
        return EMPTY;
      case 'resources/subscribe':
        return this.#subscribe(params);
      case 'resources/unsubscribe':
        this.#listeners.unsubscribe(stringParam(params, 'uri'));
        return EMPTY;
      default:
        return this.#shared(request, params, 'legacy');
    }
  }

  #modern(request: IncomingRequest): Promise<Payload> | Payload | undefined {
    const { method, params = {} } = request;
    checkEnvelope(params);
    switch (method) {
      case 'server/discover':
        return this.#discover();
      case 'subscriptions/listen':
        this.#listeners.listen(request);
        return undefined;
      default:
        return this.#shared(request, params, 'modern');
    }
  }

  #shared(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> | Payload {
    const { gateway, caller, exposure } = this.#binding;
    switch (request.method) {
      case 'tools/call':
        return this.#callTool(request, params, era);
      case 'prompts/get':
        return this.#forEra(
          gateway.getPrompt(caller, stringParam(params, 'name'), this.#call(request, params, era)),
          era,
          false,
        );
      case 'resources/read':
        return this.#forEra(
          gateway.readResource(caller, stringParam(params, 'uri'), this.#call(request, params, era)),
          era,
          true,
        );
      case 'completion/complete': {
        const { ref } = params;
        if (!isJsonObject(ref)) throw invalidParams('ref must be an object.');
        return this.#forEra(gateway.complete(caller, ref, this.#call(request, params, era)), era, false);
      }
      default:
        if (this.#binding.lists.isList(request.method))
          return this.#list(request.method, params, exposure, era);
        throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${request.method}` });
    }
  }

  async #callTool(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> {
    const { gateway, caller, exposure } = this.#binding;
    const name = stringParam(params, 'name');
    const call = (exposed: string, inner: CallRequest): Promise<Payload> =>
      gateway.callTool(caller, exposed, inner);
    let payload: Payload;
    try {
      payload = resultForEra(
        await exposure.callTool(name, this.#call(request, params, era), call),
        era,
        NOT_CACHEABLE,
      );
    } catch (error) {
      const result = toToolResult(error);
      if (result === undefined) throw error;
      payload = resultForEra(result, era, NOT_CACHEABLE);
    }
    return payload;
  }

  async #forEra(answer: Promise<Payload>, era: Era, isCacheable: boolean): Promise<Payload> {
    return resultForEra(await answer, era, { isCacheable });
  }

  async #list(method: string, params: JsonObject, exposure: Exposure, era: Era): Promise<Payload> {
    if (params['cursor'] !== undefined) throw invalidParams('Unknown cursor: every list is one page here.');
    const { gateway, lists } = this.#binding;
    await gateway.settled();
    const view = this.#view();
    this.#known.listed(method, view);
    return lists.get(method, view, exposure, era);
  }

  #call(request: IncomingRequest, params: JsonObject, era: Era): CallRequest {
    const meta = params['_meta'];
    const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
    const timeoutMs = isJsonObject(meta) ? meta['trunkline/timeoutMs'] : undefined;
    return {
      params: withoutEnvelope(params),
      // Modern clients have no sessions: what is not shared by all is shared by what one caller asks.
      session: era === 'modern' ? `caller:${this.#binding.caller.id}` : this.#id,
      cancellation: request.cancellation,
      ...(typeof timeoutMs === 'number' && timeoutMs > 0 ? { timeoutMs } : {}),
      ...(typeof token === 'string' || typeof token === 'number'
        ? {
            onProgress: (progress) =>
              request.notify('notifications/progress', { ...progress, progressToken: token }),
          }
        : {}),
    };
  }

  #initialize(params: JsonObject): Payload {
    const wanted = params['protocolVersion'];
    if (typeof wanted !== 'string') throw invalidParams('protocolVersion must be a string.');
    this.#listeners.announceChanges((changed) => this.#announce(changed));
    return Payload.of({
      protocolVersion: LEGACY_VERSIONS.includes(wanted) ? wanted : NEWEST_LEGACY,
      capabilities: CAPABILITIES,
      serverInfo: this.#serverInfo(),
      instructions: this.#binding.exposure.instructions(this.#view()),
    });
  }

  #discover(): Payload {
    return Payload.of({
      resultType: 'complete',
      supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()],
      capabilities: CAPABILITIES,
      instructions: this.#binding.exposure.instructions(this.#view()),
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { [META.serverInfo]: this.#serverInfo() },
    });
  }

  async #subscribe(params: JsonObject): Promise<Payload> {
    const uri = stringParam(params, 'uri');
    await this.#listeners.subscribe(uri, () =>
      this.#binding.channel.notify('notifications/resources/updated', { uri }),
    );
    return EMPTY;
  }

  #announce(changed: ChangedLists): void {
    for (const method of this.#known.news(changed, this.#view())) {
      this.#binding.channel.notify(method, undefined);
    }
  }

  #fail(request: IncomingRequest, error: unknown, era: Era): void {
    if (!(error instanceof GatewayError) && !(error instanceof RpcError)) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.#binding.log.error('A request failed unexpectedly.', {
        method: request.method.slice(0, 100),
        reason,
      });
    }
    request.error(toRpcError(error, era));
  }

  #view(): View {
    return this.#binding.gateway.view(this.#binding.caller);
  }

  #serverInfo(): JsonObject {
    return { name: 'trunkline', title: 'Trunkline', version: this.#binding.version };
  }
}

const EMPTY = Payload.of({});
const NOT_CACHEABLE = { isCacheable: false };

/** Every modern request says which version it speaks and what its client can do. */
function checkEnvelope(params: JsonObject): void {
  const meta = params['_meta'];
  const version = isJsonObject(meta) ? meta[META.protocolVersion] : undefined;
  if (!isJsonObject(meta) || typeof version !== 'string')
    throw invalidParams(`_meta must have ${META.protocolVersion}.`);
  if (version !== MODERN_VERSION) {
    const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS.toReversed()], requested: version };
    throw new RpcError({
      code: RPC.unsupportedVersion,
      message: `Unsupported protocol version: ${version}`,
      data,
    });
  }
  if (!isJsonObject(meta[META.clientCapabilities]))
    throw invalidParams(`_meta must have ${META.clientCapabilities}.`);
}

function stringParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw invalidParams(`${name} must be a string.`);
  return value;
}

function invalidParams(message: string): RpcError {
  return new RpcError({ code: RPC.invalidParams, message });
}
