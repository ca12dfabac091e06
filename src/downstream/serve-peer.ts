import type { Exposure, ExposureChoice } from '../exposure/exposure.ts';
import type { Served } from '../gateway/served.ts';
import type { ChangedLists, View } from '../gateway/view.ts';
import { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import type { Logger } from '../observe/log.ts';
import { clientNameOf, nameOf } from '../wire/envelope.ts';
import { eraOf, RPC } from '../wire/era.ts';
import type { Message } from '../wire/message.ts';
import type { MirroredParams } from '../wire/http/mirrored-params.ts';
import type { ClientChannel, IncomingRequest } from '../wire/serving.ts';
import { checkEnvelope } from './check-envelope.ts';
import { ClientCalls } from './client-calls.ts';
import {
  agreedVersion,
  discoverResult,
  initializeResult,
  introduceAll,
  introduceOne,
  metaOfList,
} from './introduction.ts';
import { Lasting } from './lasting.ts';
import type { ListTexts } from './lists.ts';
import { OutsideClient } from './outside-client.ts';
import type { ParkedCalls } from './parked-calls.ts';
import { SessionExposure } from './session-exposure.ts';
import type { KeptSession, SessionConnection } from './sessions/kept-session.ts';
import type { SessionState } from './sessions/session-state.ts';
import type { SignInOffers } from './sign-in-offers.ts';
import { invalidParams, toRpcError } from './to-wire.ts';

export interface Binding {
  readonly gateway: Served;
  readonly exposure: Exposure | ExposureChoice;
  /** Another value when the exposure has to be chosen anew. */
  readonly edition?: () => unknown;
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly lists: ListTexts;
  /** A list of tools is sent; told after the fact. */
  readonly onListed?: ((view: () => View, exposure: Exposure, list: Payload) => void) | undefined;
  readonly parked: ParkedCalls;
  readonly mirrored: MirroredParams;
  /** The path, where there is one: a call is continued where it began. */
  readonly place?: string;
  /** Whether the client is connected as long as it lives; then modern ones have a session, too. */
  readonly isConnection?: boolean;
  /** Our name, where several gateways serve one client. */
  readonly replica?: string | undefined;
  /** Of an older client over HTTP, whose session may be served elsewhere as well, and after us. */
  readonly kept?: KeptSession | undefined;
  /** Absent where nobody can be offered a link. */
  readonly signIns?: SignInOffers | undefined;
  readonly log: Logger;
  readonly version: string;
}

/** The side that answers one client. Cheap and without side effects until the client asks for something. */
export function servePeer(binding: Binding): SessionConnection {
  return new ClientSession(binding);
}

class ClientSession implements SessionConnection {
  readonly #binding: Binding;
  readonly #calls: ClientCalls;
  readonly #exposure: SessionExposure;
  /** Not made for a single call: a modern client over HTTP has a session for each. */
  #lasting: Lasting | undefined;
  #attached: Disposable | undefined;
  /** Settled when the answer to `initialize` is on its way. */
  #opening: Promise<void> | undefined;
  #isClosed = false;

  constructor(binding: Binding) {
    this.#binding = binding;
    this.#exposure = new SessionExposure(binding.exposure, this);
    this.#calls = new ClientCalls(binding, this.#exposure);
    const before = binding.kept?.before?.facts;
    if (before !== undefined) this.#meet(before.info, before.capabilities);
  }

  request(request: IncomingRequest): void {
    const era = eraOf(request.method, request.params);
    if (this.#opening === undefined || era === 'modern' || BEFORE_OPENING.has(request.method))
      return this.#take(request, era);
    // A client that does not wait for the handshake still reads its answers in order.
    void this.#opening.then(() => {
      if (!this.#isClosed && request.cancellation.reason === undefined) this.#take(request, era);
    });
  }

  #take(request: IncomingRequest, era: Era): void {
    try {
      const answer = era === 'modern' ? this.#modern(request) : this.#legacy(request);
      if (answer instanceof Payload) return request.result(answer);
      const answered = answer?.then(
        (payload) => this.#answer(request, payload, era),
        (error: unknown) => this.#fail(request, error, era),
      );
      if (request.method === 'initialize')
        this.#opening = answered?.then(() => void (this.#opening = undefined));
    } catch (error) {
      this.#fail(request, error, era);
    }
  }

  /** Concerns us in no way: cancellation is the transport's business. A server that is served alone may understand it. */
  notification(method: string, params: JsonObject | undefined): void {
    if (!OF_THE_HOP.has(method)) this.#binding.gateway.notify?.(method, params);
  }

  adopt(state: SessionState): Promise<void> {
    return this.#lastingParts().settings.adopt(state);
  }

  returned(): void {
    const { gateway } = this.#binding;
    const offered = gateway.introduction && this.view.servers[0]?.facts?.capabilities;
    const has = (kind: string): boolean => offered === undefined || kind in offered;
    this.#lastingParts().known.forget();
    this.#announce({ tools: has('tools'), prompts: has('prompts'), resources: has('resources') });
  }

  response(message: Extract<Message, { kind: 'result' | 'error' }>): void {
    this.#calls.asked.response(message);
  }

  close(): void {
    this.#isClosed = true;
    this.#attached?.[Symbol.dispose]();
    this.#calls.close();
    this.#lasting?.listeners.close();
  }

  /** A promise, a payload, or nothing where the request stays open. */
  #legacy(request: IncomingRequest): Promise<Payload> | Payload | undefined {
    const { method, params = {} } = request;
    switch (method) {
      case 'initialize':
        return this.#initialize(params);
      case 'ping':
        return EMPTY;
      case 'logging/setLevel':
        return (
          this.#leftToServer(request, params) ?? this.#lastingParts().settings.setLogLevel(params['level'])
        );
      case 'resources/subscribe':
        return (
          this.#leftToServer(request, params) ?? this.#lastingParts().settings.subscribe(request, params)
        );
      case 'resources/unsubscribe':
        return this.#leftToServer(request, params) ?? this.#lastingParts().settings.unsubscribe(params);
      default:
        return this.#shared(request, params, 'legacy');
    }
  }

  #modern(request: IncomingRequest): Promise<Payload> | Payload | undefined {
    const { method, params = {} } = request;
    checkEnvelope(params);
    switch (method) {
      case 'server/discover':
        return this.#introduced({ era: 'modern', client: clientNameOf(params) }, discoverResult);
      case 'subscriptions/listen':
        this.#lastingParts().listeners.listen(request);
        return undefined;
      default:
        return this.#shared(request, params, 'modern');
    }
  }

  #shared(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> {
    const { lists, gateway } = this.#binding;
    if (this.#calls.isCall(request.method)) return this.#calls.run(request, params, era);
    if (lists.isList(request.method)) return this.#list(request, params, era);
    if (gateway.takes(request.method, era)) return this.#calls.run(request, params, era);
    throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${request.method}` });
  }

  async #list(request: IncomingRequest, params: JsonObject, era: Era): Promise<Payload> {
    const { gateway, lists } = this.#binding;
    const { method } = request;
    await gateway.settled();
    if (gateway.leavesToServer?.(method, params, era) === true) return this.#calls.run(request, params, era);
    if (params['cursor'] !== undefined) throw invalidParams('Unknown cursor: every list is one page here.');
    const { view } = this;
    const client = clientNameOf(params);
    const exposure = this.#exposure.for(era, client);
    const revealed = this.#exposure.revealedFor(era);
    // Modern clients that do not stay are told of no changes.
    const lasting = era === 'legacy' ? this.#lastingParts() : this.#lasting;
    lasting?.known.listed(method, { digests: this.#exposure.digests(view, era, client) });
    const meta = gateway.introduction && metaOfList(method, view.servers[0]?.facts, era);
    const list = lists.get(method, view, exposure, { era, revealed, meta });
    if (method === 'tools/list') this.#binding.onListed?.(() => this.view, exposure, list);
    return list;
  }

  /** A server that is served alone refuses in its own words what it does not know. */
  #leftToServer(request: IncomingRequest, params: JsonObject): Promise<Payload> | undefined {
    const isLeft = this.#binding.gateway.leavesToServer?.(request.method, params, 'legacy');
    return isLeft === true ? this.#calls.run(request, params, 'legacy') : undefined;
  }

  #initialize(params: JsonObject): Promise<Payload> | Payload {
    const { protocolVersion: wanted, capabilities, clientInfo } = params;
    if (typeof wanted !== 'string') throw invalidParams('protocolVersion must be a string.');
    this.#meet(clientInfo, capabilities);
    const version = agreedVersion(wanted);
    return this.#introduced({ era: 'legacy', version }, (from) => initializeResult(wanted, from));
  }

  /** An older client that stays has said who it is, just now or wherever its session was opened. */
  #meet(info: unknown, capabilities: unknown): void {
    this.#exposure.client = nameOf(info);
    this.#calls.info = isJsonObject(info) ? info : undefined;
    this.#calls.capabilities = isJsonObject(capabilities) ? capabilities : {};
    const { known, listeners } = this.#lastingParts();
    known.met(this.view);
    listeners.announceChanges((changed) => this.#announce(changed));
    const { gateway, channel } = this.#binding;
    this.#attached ??= gateway.attach?.(new OutsideClient(this.#calls, channel, gateway.isForOne === true));
  }

  /** At once, unless a server that is served alone is to speak for itself. */
  #introduced(
    { era, client, version = '' }: { era: Era; client?: string | undefined; version?: string },
    answer: (introduction: ReturnType<typeof introduceAll>) => Payload,
  ): Promise<Payload> | Payload {
    const { gateway, lists, version: ours } = this.#binding;
    const known = gateway.introduction?.();
    if (known !== undefined) return known.then((facts) => answer(introduceOne(facts, era, ours)));
    const { view } = this;
    const exposure = this.#exposure.for(era, client);
    return lists.introduction(view, exposure, `${era} ${version}`, () =>
      answer(introduceAll(ours, exposure.instructions(view), view.servers, era)),
    );
  }

  #announce(changed: ChangedLists): void {
    const { view } = this;
    const digests = this.#exposure.digests(view, 'legacy');
    for (const method of this.#lastingParts().known.news(changed, { digests }, view)) {
      this.#binding.channel.notify(method, undefined);
    }
  }

  /** What cannot be written is answered with an error. */
  #answer(request: IncomingRequest, payload: Payload, era: Era): void {
    try {
      request.result(payload);
    } catch (error) {
      this.#fail(request, error, era);
    }
  }

  #fail(request: IncomingRequest, error: unknown, era: Era): void {
    if (!(error instanceof GatewayError) && !(error instanceof RpcError)) {
      const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
      const method = request.method.slice(0, 100);
      this.#binding.log.error('A request failed unexpectedly.', { method, reason });
    }
    request.error(toRpcError(error, era));
  }

  get view(): View {
    return this.#binding.gateway.view(this.#binding.caller);
  }

  get edition(): unknown {
    return this.#binding.edition?.();
  }

  onReveal(names: readonly string[]): void {
    const { known, settings } = this.#lastingParts();
    known.toldOfTools({ digests: this.#exposure.digests(this.view, 'legacy') });
    settings.revealed(names);
  }

  #lastingParts(): Lasting {
    if (this.#lasting === undefined) {
      const [calls, exposure, view] = [this.#calls, this.#exposure, () => this.view];
      this.#lasting = new Lasting(this.#binding, { calls, exposure, view });
      if (this.#isClosed) this.#lasting.listeners.close();
    }
    return this.#lasting;
  }
}

const EMPTY = Payload.of({});

/** What either side may say before the handshake is over. */
const BEFORE_OPENING: ReadonlySet<string> = new Set(['initialize', 'ping']);

/** Between the client and us. */
const OF_THE_HOP: ReadonlySet<string> = new Set(['notifications/initialized', 'notifications/cancelled']);
