import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ExposureContext } from '../exposure/exposure.ts';
import type { CallRequest } from '../gateway/call-request.ts';
import type { Served } from '../gateway/served.ts';
import type { View } from '../gateway/view.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ToolEntry } from '../model/entry.ts';
import { RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { RPC } from '../wire/era.ts';
import { paramProblem } from '../wire/modern-headers.ts';
import { envelopeOf, withoutEnvelope } from '../wire/envelope.ts';
import type { IncomingRequest } from '../wire/serving.ts';
import { AskedClient } from './asked-client.ts';
import { ClientBehindRequest } from './client-behind-request.ts';
import type { Asker } from './client-behind-request.ts';
import type { ParkedCalls } from './parked-calls.ts';
import { isInputRequired, questionRounds } from './question-rounds.ts';
import type { SessionExposure } from './session-exposure.ts';
import { resultForEra, toToolResult } from './to-wire.ts';

interface CallsBinding {
  readonly gateway: Served;
  readonly caller: Caller;
  readonly parked: ParkedCalls;
}

/** The requests of one client that servers answer, with what these servers may ask or tell it meanwhile. */
export class ClientCalls {
  readonly #binding: CallsBinding;
  readonly #exposure: SessionExposure;
  readonly #session = randomUUID();
  readonly asked = new AskedClient();
  /** What an older client declared in `initialize`; a modern one says it with every request. */
  capabilities: JsonObject = {};
  logLevel: string | undefined;

  constructor(binding: CallsBinding, exposure: SessionExposure) {
    this.#binding = binding;
    this.#exposure = exposure;
  }

  isCall(method: string): boolean {
    return METHODS.has(method);
  }

  async run(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> {
    const options = { isCacheable: request.method === 'resources/read' };
    try {
      const answer = era === 'modern' ? this.#modern(request, params) : this.#legacy(request, params);
      return resultForEra(await answer, era, options);
    } catch (error) {
      const result = request.method === 'tools/call' ? toToolResult(error) : undefined;
      if (result === undefined) throw error;
      return resultForEra(result, era, options);
    }
  }

  close(): void {
    this.asked.close();
    this.#binding.gateway.endSession(this.#session);
  }

  async #legacy(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const { cancellation } = request;
    const behind = new ClientBehindRequest(this.#session, this, this.asked.during(request));
    const repeat = (repeated: JsonObject): Promise<Payload> =>
      this.#send(request, repeated, 'legacy', {
        ...callOptions(request, repeated),
        session: this.#session,
        cancellation,
        behind,
      });
    const first = await repeat(params);
    return isInputRequired(first) ? questionRounds(first, { params, behind, cancellation, repeat }) : first;
  }

  #modern(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const { caller, parked } = this.#binding;
    const client = envelopeOf(params);
    return parked.run(
      request,
      { caller: caller.id, capabilities: client.capabilities },
      (cancellation: Cancellation, asker: Asker) =>
        this.#send(request, params, 'modern', {
          ...callOptions(asker, params),
          // Modern clients have no sessions: what is not shared by all is shared by what one caller asks.
          session: `caller:${caller.id}`,
          cancellation,
          behind: new ClientBehindRequest(`${this.#session}:${String(request.id)}`, client, asker),
        }),
    );
  }

  #send(
    client: IncomingRequest,
    params: JsonObject,
    era: Era,
    options: Omit<CallRequest, 'params'>,
  ): Promise<Payload> {
    const { gateway, caller } = this.#binding;
    const { headers } = client;
    const request: CallRequest = {
      ...options,
      params: withoutEnvelope(params),
      ...(headers && { check: (entry) => checkHeaders(entry, params, headers) }),
    };
    switch (client.method) {
      case 'tools/call': {
        const context = new ClientContext(this.#binding, this.#exposure, { client, era });
        return this.#exposure.for(era).callTool(stringParam(params, 'name'), request, context);
      }
      case 'prompts/get':
        return gateway.getPrompt(caller, stringParam(params, 'name'), request);
      case 'resources/read':
        return gateway.readResource(caller, stringParam(params, 'uri'), request);
      default: {
        const { ref } = params;
        if (!isJsonObject(ref))
          throw new RpcError({ code: RPC.invalidParams, message: 'ref must be an object.' });
        return gateway.complete(caller, ref, request);
      }
    }
  }
}

/** What an exposure may do for the client of one call; a class, since there is one for every call. */
class ClientContext implements ExposureContext {
  readonly #binding: CallsBinding;
  readonly #exposure: SessionExposure;
  readonly #call: { readonly client: IncomingRequest; readonly era: Era };

  constructor(
    binding: CallsBinding,
    exposure: SessionExposure,
    call: { readonly client: IncomingRequest; readonly era: Era },
  ) {
    this.#binding = binding;
    this.#exposure = exposure;
    this.#call = call;
  }

  get view(): View {
    return this.#binding.gateway.view(this.#binding.caller);
  }

  async settled(): Promise<View> {
    await this.#binding.gateway.settled();
    return this.view;
  }

  call(name: string, request: CallRequest): Promise<Payload> {
    return this.#binding.gateway.callTool(this.#binding.caller, name, request);
  }

  reveal(names: readonly string[]): void {
    const { client, era } = this.#call;
    // A list may not vary between requests of modern clients.
    if (era === 'modern' || !this.#exposure.reveal(names)) return;
    // On the stream of the search, so that it comes before the answer.
    client.notify('notifications/tools/list_changed', undefined);
  }
}

const METHODS: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
]);

/** Whoever routes by headers must have seen the same arguments as the server. */
function checkHeaders(entry: ToolEntry, params: JsonObject, headers: IncomingHttpHeaders): void {
  const problem = paramProblem(entry.definition['inputSchema'], params['arguments'], headers);
  if (problem !== undefined) throw new RpcError(problem);
}

interface Told {
  notify(method: string, params: JsonObject): void;
}

/** What a client may ask of the way in which its request is treated. */
function callOptions(client: Told, params: JsonObject): Pick<CallRequest, 'timeoutMs' | 'onProgress'> {
  const meta = params['_meta'];
  if (!isJsonObject(meta)) return {};
  const { progressToken: token, 'trunkline/timeoutMs': timeoutMs } = meta;
  return {
    ...(typeof timeoutMs === 'number' && timeoutMs > 0 ? { timeoutMs } : {}),
    ...(typeof token === 'string' || typeof token === 'number'
      ? {
          onProgress: (progress) =>
            client.notify('notifications/progress', { ...progress, progressToken: token }),
        }
      : {}),
  };
}

export function stringParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string')
    throw new RpcError({ code: RPC.invalidParams, message: `${name} must be a string.` });
  return value;
}
