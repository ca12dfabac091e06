import { randomUUID } from 'node:crypto';
import type { Exposure } from '../exposure/exposure.ts';
import type { CallRequest, Gateway } from '../gateway/gateway.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { reaches } from '../model/log-level.ts';
import type { Era } from '../model/server-facts.ts';
import { RPC } from '../wire/era.ts';
import { envelopeOf, withoutEnvelope } from '../wire/envelope.ts';
import type { IncomingRequest } from '../wire/serving.ts';
import { AskedClient } from './asked-client.ts';
import type { Asker, ParkedCalls } from './parked-calls.ts';
import { questionRounds } from './question-rounds.ts';
import { resultForEra, toToolResult } from './to-wire.ts';

interface CallsBinding {
  readonly gateway: Gateway;
  readonly exposure: Exposure;
  readonly caller: Caller;
  readonly parked: ParkedCalls;
}

/** The requests of one client that servers answer, with what these servers may ask or tell it meanwhile. */
export class ClientCalls {
  readonly #binding: CallsBinding;
  readonly #session = randomUUID();
  readonly asked = new AskedClient();
  /** What an older client declared in `initialize`; a modern one says it with every request. */
  capabilities: JsonObject = {};
  logLevel: string | undefined;

  constructor(binding: CallsBinding) {
    this.#binding = binding;
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
    const { capabilities, logLevel } = this;
    const { cancellation } = request;
    const behind: ClientBehind = {
      session: this.#session,
      capabilities,
      logLevel,
      ask: async (method, about, given) =>
        this.asked.ask(request, { method, params: about }, { capabilities, cancellation: given }),
      log: (message) => tell(request, message, logLevel),
    };
    const repeat = (repeated: JsonObject): Promise<Payload> =>
      this.#send(request.method, repeated, {
        ...callOptions(request, repeated),
        session: this.#session,
        cancellation,
        behind,
      });
    return questionRounds(await repeat(params), { params, behind, cancellation, repeat });
  }

  #modern(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const { caller, parked } = this.#binding;
    const { capabilities, logLevel } = envelopeOf(params);
    return parked.run(
      request,
      { caller: caller.id, capabilities },
      (cancellation: Cancellation, asker: Asker) =>
        this.#send(request.method, params, {
          ...callOptions(asker, params),
          // Modern clients have no sessions: what is not shared by all is shared by what one caller asks.
          session: `caller:${caller.id}`,
          cancellation,
          behind: {
            session: `${this.#session}:${String(request.id)}`,
            capabilities,
            logLevel,
            ask: async (...question) => asker.ask(...question),
            log: (message) => tell(asker, message, logLevel),
          },
        }),
    );
  }

  #send(method: string, params: JsonObject, options: Omit<CallRequest, 'params'>): Promise<Payload> {
    const { gateway, exposure, caller } = this.#binding;
    const request: CallRequest = { ...options, params: withoutEnvelope(params) };
    switch (method) {
      case 'tools/call': {
        const call = (name: string, inner: CallRequest): Promise<Payload> =>
          gateway.callTool(caller, name, inner);
        return exposure.callTool(stringParam(params, 'name'), request, call);
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

const METHODS: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
]);

interface Told {
  notify(method: string, params: JsonObject): void;
}

function tell(client: Told, message: JsonObject, wanted: string | undefined): void {
  if (reaches(message['level'], wanted)) client.notify('notifications/message', message);
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
