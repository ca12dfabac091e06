import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ExposureContext } from '../exposure/exposure.ts';
import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { Served } from '../gateway/served.ts';
import type { View } from '../gateway/view.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ToolEntry } from '../model/entry.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { RPC } from '../wire/era.ts';
import { paramProblem } from '../wire/http/modern-headers.ts';
import { clientNameOf, envelopeOf, withoutEnvelope } from '../wire/envelope.ts';
import type { ClientChannel, IncomingRequest } from '../wire/serving.ts';
import { AskedClient } from './asked-client.ts';
import { callOptions } from './call-options.ts';
import { ClientBehindRequest } from './client-behind-request.ts';
import type { Asker, ClientPlace } from './client-behind-request.ts';
import { pagesFirst } from './pages-first.ts';
import type { ParkedCalls } from './parked-calls.ts';
import { isInputRequired, questionRounds } from './question-rounds.ts';
import type { SessionExposure } from './session-exposure.ts';
import type { KeptSession } from './sessions/kept-session.ts';
import { mended } from './sign-in-offers.ts';
import type { SignInOffers } from './sign-in-offers.ts';
import { resultForEra, toToolResult } from './to-wire.ts';

interface CallsBinding {
  readonly gateway: Served;
  readonly caller: Caller;
  readonly parked: ParkedCalls;
  readonly channel: ClientChannel;
  readonly place: string;
  readonly isConnection?: boolean;
  readonly kept?: KeptSession | undefined;
  readonly replica?: string | undefined;
  readonly signIns?: SignInOffers | undefined;
}

/** The requests of one client that servers answer, with what these servers may ask or tell it meanwhile. */
export class ClientCalls {
  readonly #binding: CallsBinding;
  readonly #exposure: SessionExposure;
  readonly #place: ClientPlace;
  readonly session: string;
  readonly asked: AskedClient;
  /** What an older client declared in `initialize`; a modern one says it with every request. */
  capabilities: JsonObject = {};
  /** What an older client called itself in `initialize`. */
  info: JsonObject | undefined;
  logLevel: string | undefined;

  constructor(binding: CallsBinding, exposure: SessionExposure) {
    this.#binding = binding;
    this.#exposure = exposure;
    this.session = binding.kept?.id ?? randomUUID();
    this.asked = new AskedClient(binding.replica);
    const { gateway, channel } = binding;
    this.#place = { isAlone: isAlone(gateway), isOnlyOne: gateway.isForOne === true, channel };
  }

  isCall(method: string): boolean {
    return METHODS.has(method);
  }

  async run(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> {
    const options = { isCacheable: CACHEABLE.has(request.method) };
    const behind = era === 'modern' ? undefined : this.behind(request);
    try {
      if (behind === undefined) return resultForEra(await this.#modern(request, params), era, options);
      const first = await this.#legacy(request, params, behind);
      const last = isInputRequired(first) ? await this.#asking(first, request, { params, behind }) : first;
      return resultForEra(last, era, options);
    } catch (error) {
      const known = behind === undefined ? error : forOlderClient(error);
      const result = request.method === 'tools/call' ? toToolResult(known) : undefined;
      if (result === undefined) throw known;
      return resultForEra(result, era, options);
    } finally {
      if (behind !== undefined) behind.isOver = true;
    }
  }

  close(): void {
    this.asked.close();
    this.#binding.gateway.endSession(this.session);
  }

  /** The client of the older protocol that waits for the answer to this. */
  behind(request: IncomingRequest): ClientBehindRequest {
    return new ClientBehindRequest(this.session, this, this.asked.during(request), this.#place);
  }

  #legacy(request: IncomingRequest, params: JsonObject, behind: ClientBehindRequest): Promise<Payload> {
    const { cancellation } = request;
    const { session, info: client } = this;
    const { timeoutMs, onProgress } = callOptions(request, params);
    const options = { session, client, cancellation, behind, timeoutMs, onProgress };
    return this.#send(request, params, 'legacy', options);
  }

  /** Puts what the server asks to the client until there is a last answer. */
  #asking(
    first: Payload,
    request: IncomingRequest,
    { params, behind }: { readonly params: JsonObject; readonly behind: ClientBehindRequest },
  ): Promise<Payload> {
    const { cancellation } = request;
    const repeat = (repeated: JsonObject): Promise<Payload> => this.#legacy(request, repeated, behind);
    return questionRounds(first, { params, behind, cancellation, repeat });
  }

  #modern(request: IncomingRequest, params: JsonObject): Promise<Payload> {
    const { caller, parked } = this.#binding;
    const client = envelopeOf(params);
    const modernPlace = { ...this.#place, channel: undefined };
    return parked.run(
      request,
      { caller: caller.id, place: this.#binding.place, capabilities: client.capabilities },
      (cancellation: Cancellation, asker: Asker) => {
        const id = `${this.session}:${String(request.id)}`;
        const behind = new ClientBehindRequest(id, client, asker, modernPlace);
        const options = {
          ...callOptions(asker, params),
          // Modern clients have no sessions but their connection: without one, what is not shared by all is the caller's.
          session: this.#binding.isConnection === true ? this.session : `caller:${caller.id}`,
          client: client.info,
          cancellation,
          behind,
        };
        return pagesFirst(() => this.#send(request, params, 'modern', options), { behind, cancellation });
      },
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
    // Always the same members, which is faster than leaving some out.
    const request: CallRequest = {
      session: options.session,
      group: `${this.session}:${String(client.id)}`,
      client: options.client,
      cancellation: options.cancellation,
      behind: options.behind,
      onProgress: options.onProgress,
      timeoutMs: options.timeoutMs,
      checksArguments: undefined,
      params: withoutEnvelope(params),
      check: headers && ((entry) => checkHeaders(entry, params, headers)),
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
        if (!isJsonObject(ref))
          throw new RpcError({ code: RPC.invalidParams, message: 'ref must be an object.' });
        return gateway.complete(caller, ref, request);
      }
      default:
        return gateway.pass(caller, client.method, request);
    }
  }
}

/** Only one server alone introduces itself. */
function isAlone(gateway: Served): boolean {
  return gateway.introduction !== undefined;
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

  get caller(): Caller {
    return this.#binding.caller;
  }

  get view(): View {
    return this.#binding.gateway.view(this.#binding.caller);
  }

  async settled(): Promise<View> {
    await this.#binding.gateway.settled();
    return this.view;
  }

  call(name: string, request: CallRequest): Promise<Payload> {
    const { gateway, caller } = this.#binding;
    return mended(this.#binding, this.#call.era, request, () => gateway.callTool(caller, name, request));
  }

  async callToEnd(name: string, request: CallRequest): Promise<Payload> {
    const { params, behind, cancellation } = request;
    if (behind === undefined) return this.call(name, request);
    const repeat = (repeated: JsonObject): Promise<Payload> =>
      pagesFirst(() => this.call(name, { ...request, params: repeated }), { behind, cancellation });
    const first = await repeat(params);
    if (!isInputRequired(first)) return first;
    return questionRounds(first, { params, behind, cancellation, repeat });
  }

  reveal(names: readonly string[]): void {
    const { client, era } = this.#call;
    // A list may not vary between requests of modern clients.
    if (era === 'modern' || !this.#exposure.reveal(names)) return;
    // On the stream of the search, so that it comes before the answer.
    client.notify('notifications/tools/list_changed', undefined);
  }
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
function checkHeaders(entry: ToolEntry, params: JsonObject, headers: IncomingHttpHeaders): void {
  const problem = paramProblem(entry.definition['inputSchema'], params['arguments'], headers);
  if (problem !== undefined) throw new RpcError(problem);
}

export function stringParam(params: JsonObject, name: string): string {
  const value = params[name];
  if (typeof value !== 'string')
    throw new RpcError({ code: RPC.invalidParams, message: `${name} must be a string.` });
  return value;
}
