import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Served } from '../gateway/served.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { RPC } from '../wire/era.ts';
import type { MirroredParams } from '../wire/http/mirrored-params.ts';
import { paramProblem } from '../wire/http/modern-headers.ts';
import type { HeaderParam } from '../wire/http/param-headers.ts';
import { clientNameOf, envelopeOf, withoutEnvelope } from '../wire/envelope.ts';
import type { ClientChannel, IncomingRequest } from '../wire/serving.ts';
import { AskedClient } from './asked-client.ts';
import { callOptions } from './call-options.ts';
import { ClientBehindRequest } from './client-behind-request.ts';
import { ClientContext } from './client-context.ts';
import type { ClientPlace } from './client-behind-request.ts';
import { pagesFirst } from './pages-first.ts';
import type { ParkedCalls } from './parked-calls.ts';
import { isInputRequired, questionRounds } from './question-rounds.ts';
import type { SessionExposure } from './session-exposure.ts';
import type { KeptSession } from './sessions/kept-session.ts';
import { mended } from './sign-in-offers.ts';
import type { SignInOffers } from './sign-in-offers.ts';
import { invalidParams, resultForEra, toToolResult } from './to-wire.ts';

interface CallsBinding {
  readonly gateway: Served;
  readonly caller: Caller;
  readonly parked: ParkedCalls;
  readonly mirrored: MirroredParams;
  readonly channel: ClientChannel;
  readonly place?: string;
  readonly isConnection?: boolean;
  readonly kept?: KeptSession | undefined;
  readonly replica?: string | undefined;
  readonly signIns?: SignInOffers | undefined;
}

interface RunningCall {
  readonly request: IncomingRequest;
  readonly params: JsonObject;
  readonly era: Era;
  /** Of an older client. */
  readonly behind: ClientBehindRequest | undefined;
}

/** The requests of one client that servers answer, with what these servers may ask or tell it meanwhile. */
export class ClientCalls {
  readonly #binding: CallsBinding;
  readonly #exposure: SessionExposure;
  #session: string | undefined;
  #asked: AskedClient | undefined;
  #place: ClientPlace | undefined;
  /** What an older client declared in `initialize`; a modern one says it with every request. */
  capabilities: JsonObject = {};
  /** What an older client called itself in `initialize`. */
  info: JsonObject | undefined;
  logLevel: string | undefined;

  constructor(binding: CallsBinding, exposure: SessionExposure) {
    this.#binding = binding;
    this.#exposure = exposure;
  }

  /** Unlike any other; a modern client that does not stay has none. */
  get session(): string {
    return (this.#session ??= this.#binding.kept?.id ?? randomUUID());
  }

  get asked(): AskedClient {
    return (this.#asked ??= new AskedClient(this.#binding.replica));
  }

  isCall(method: string): boolean {
    return METHODS.has(method);
  }

  /** Not an async function: its frame would be kept while the server works. */
  run(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> {
    const behind = era === 'modern' ? undefined : this.behind(request);
    const call = { request, params, era, behind };
    try {
      const answer =
        behind === undefined ? this.#modern(request, params) : this.#legacy(request, params, behind);
      return answer.then(
        (payload) =>
          behind !== undefined && isInputRequired(payload)
            ? this.#asking(payload, call)
            : answered(payload, call),
        (error: unknown) => failedCall(error, call),
      );
    } catch (error) {
      return Promise.resolve(failedCall(error, call));
    }
  }

  close(): void {
    this.#asked?.close();
    if (this.#session !== undefined) this.#binding.gateway.endSession(this.#session);
  }

  /** The client of the older protocol that waits for the answer to this. */
  behind(request: IncomingRequest): ClientBehindRequest {
    this.#place ??= placeOf(this.#binding.gateway, this.#binding.channel);
    return new ClientBehindRequest(this.session, this, this.asked.during(request), this.#place);
  }

  #legacy(request: IncomingRequest, params: JsonObject, behind: ClientBehindRequest): Promise<Payload> {
    const { cancellation } = request;
    const { session, info: client } = this;
    const { timeoutMs, onProgress } = callOptions(request, params);
    const group = `${session}:${String(request.id)}`;
    const options = { session, group, client, cancellation, behind, timeoutMs, onProgress };
    return this.#send(request, params, 'legacy', options);
  }

  /** Puts what the server asks to the client until there is a last answer. */
  async #asking(first: Payload, call: RunningCall): Promise<Payload> {
    const { request, params, behind } = call;
    if (behind === undefined) return answered(first, call);
    const { cancellation } = request;
    const repeat = (repeated: JsonObject): Promise<Payload> => this.#legacy(request, repeated, behind);
    try {
      return answered(await questionRounds(first, { params, behind, cancellation, repeat }), call);
    } catch (error) {
      return failedCall(error, call);
    }
  }

  #modern(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const { gateway, caller, parked, place = '', isConnection = false } = this.#binding;
    const { info: client, capabilities, logLevel } = envelopeOf(params);
    return parked.run(request, { caller: caller.id, place, capabilities }, (cancellation, asker) => {
      // Modern clients have no sessions but their connection: without one, what is not shared by all is the caller's.
      const session = isConnection ? this.session : `caller:${caller.id}`;
      const group = `${isConnection ? session : randomUUID()}:${String(request.id)}`;
      const said = { capabilities, logLevel };
      const behind = new ClientBehindRequest(group, said, asker, placeOf(gateway, undefined));
      const { timeoutMs, onProgress } = callOptions(asker, params);
      const options = { session, group, client, cancellation, behind, timeoutMs, onProgress };
      return pagesFirst(() => this.#send(request, params, 'modern', options), options);
    });
  }

  #checkOf({ headers }: IncomingRequest, params: JsonObject): CallRequest['check'] {
    return headers && ((entry) => checkHeaders(this.#binding.mirrored.of(entry), params, headers));
  }

  #send(
    client: IncomingRequest,
    params: JsonObject,
    era: Era,
    options: Omit<CallRequest, 'params'>,
  ): Promise<Payload> {
    const { gateway, caller } = this.#binding;
    // Always the same members, which is faster than leaving some out.
    const request: CallRequest = {
      session: options.session,
      group: options.group,
      client: options.client,
      cancellation: options.cancellation,
      behind: options.behind,
      onProgress: options.onProgress,
      timeoutMs: options.timeoutMs,
      checksArguments: undefined,
      params: withoutEnvelope(params),
      check: this.#checkOf(client, params),
    };
    // What no server could understand its own server refuses in its own words.
    const isOdd = gateway.leavesToServer?.(client.method, params, era) === true;
    switch (isOdd ? 'odd' : client.method) {
      case 'tools/call': {
        const context = new ClientContext(this.#binding, this.#exposure, { client, era });
        const exposure = this.#exposure.for(era, clientNameOf(params));
        return exposure.callTool(stringParam(params, 'name'), request, context);
      }
      case 'prompts/get':
        return mended(this.#binding, era, request, () =>
          gateway.getPrompt(caller, stringParam(params, 'name'), request),
        );
      case 'resources/read':
        return mended(this.#binding, era, request, () =>
          gateway.readResource(caller, stringParam(params, 'uri'), request),
        );
      case 'completion/complete': {
        const { ref } = params;
        if (!isJsonObject(ref)) throw invalidParams('ref must be an object.');
        return gateway.complete(caller, ref, request);
      }
      default:
        return gateway.pass(caller, client.method, request);
    }
  }
}

/** Only one server alone introduces itself. */
function placeOf(gateway: Served, channel: ClientChannel | undefined): ClientPlace {
  return { isAlone: gateway.introduction !== undefined, isOnlyOne: gateway.isForOne === true, channel };
}

function answered(payload: Payload, call: RunningCall): Payload {
  const { request, era, behind } = call;
  try {
    const result = resultForEra(payload, era, { isCacheable: CACHEABLE.has(request.method) });
    if (behind !== undefined) behind.isOver = true;
    return result;
  } catch (error) {
    return failedCall(error, call);
  }
}

/** What a model can act on is a result; anything else is thrown. */
function failedCall(error: unknown, call: RunningCall): Payload {
  const { request, era, behind } = call;
  if (behind !== undefined) behind.isOver = true;
  const known = behind === undefined ? error : forOlderClient(error);
  const result = request.method === 'tools/call' ? toToolResult(known) : undefined;
  if (result === undefined) throw known;
  return resultForEra(result, era, { isCacheable: CACHEABLE.has(request.method) });
}

/** Older clients do not know the error; and what they can do they have said long ago. */
function forOlderClient(error: unknown): unknown {
  if (!(error instanceof RpcError) || error.body.code !== RPC.missingClientCapability) return error;
  const { data } = error.body;
  const required = isJsonObject(data) ? data['requiredCapabilities'] : undefined;
  const names = isJsonObject(required) ? Object.keys(required).join(', ').slice(0, 200) : '';
  const what = names === '' ? 'something' : names;
  return new GatewayError(
    'QUESTION_DECLINED',
    `The server needs ${what} of the client, which does not have it.`,
    {
      cause: error,
    },
  );
}

/** Results that say how long they may be kept. */
const CACHEABLE: ReadonlySet<string> = new Set([
  'resources/read',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

const METHODS: ReadonlySet<string> = new Set([
  'tools/call',
  'prompts/get',
  'resources/read',
  'completion/complete',
]);

/** Whoever routes by headers must have seen the same arguments as the server. */
function checkHeaders(
  mirrored: readonly HeaderParam[],
  params: JsonObject,
  headers: IncomingHttpHeaders,
): void {
  const problem = paramProblem(mirrored, params['arguments'], headers);
  if (problem !== undefined) throw new RpcError(problem);
}

export function stringParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string') throw invalidParams(`${name} must be a string.`);
  return value;
}
