import { randomUUID } from 'node:crypto';
import type { Exposure, ExposureChoice } from '../exposure/exposure.ts';
import type { Backend, SingleServerBackend } from '../gateway/backend.ts';
import type { ChangedLists, CatalogView } from '../gateway/catalog-view.ts';
import type { Payload } from '../core/lib/payload.ts';
import { callerKey } from '../core/caller.ts';
import type { Caller } from '../core/caller.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era } from '../core/server-facts.ts';
import type { Logger } from '../observability/log.ts';
import { clientInfoName } from '../protocol/envelope.ts';
import type { RpcMessage } from '../protocol/rpc-message.ts';
import type { HeaderParamCache } from '../protocol/http/param-headers.ts';
import type { ClientChannel, IncomingRequest } from '../protocol/client-connection.ts';
import { handleRequest } from './handle-request.ts';
import { ClientSubscriptions } from './methods/client-subscriptions.ts';
import type { ConnectedClients } from './connected-clients.ts';
import { describeGateway, describeSingleServer, buildListMeta } from './methods/initialize.ts';
import type { ServerDescription } from './methods/initialize.ts';
import { ReceivedLists } from './methods/received-lists.ts';
import type { ListCache } from './methods/list-cache.ts';
import { SessionSettings } from './methods/session-settings.ts';
import { ClientQuestions } from './questions/client-questions.ts';
import type { ParkedCalls } from './questions/parked-calls.ts';
import type { SignInOffers } from './questions/sign-in-offers.ts';
import { UnsolicitedChannel } from './questions/unsolicited-channel.ts';
import { SessionExposure } from './session-exposure.ts';
import type { ClientSettings } from './sessions/client-settings.ts';
import type { SessionConnection, StoredSession } from './sessions/session-store.ts';

export interface ClientSessionOptions {
  readonly backend: Backend;
  readonly exposure: Exposure | ExposureChoice;
  /** Returns a value that changes when a new configuration requires the exposure to be chosen again. */
  readonly exposureVersion?: () => unknown;
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly lists: ListCache;
  /** Called with the list when the gateway itself answers `tools/list`. */
  readonly onListed?:
    | ((view: () => CatalogView, exposure: Exposure, list: Payload, owner: string) => void)
    | undefined;
  readonly parked: ParkedCalls;
  /** Absent if connected clients are not tracked. */
  readonly clients?: ConnectedClients | undefined;
  readonly headerParams: HeaderParamCache;
  /** The address that the client uses, such as the path of an HTTP request; a parked call continues only there. */
  readonly endpoint?: string;
  /** Whether the session lasts as long as its connection, as it does over standard input. If so, modern clients have a session, too. */
  readonly isConnection?: boolean;
  /** The id of this replica, if a legacy session can continue at another one. */
  readonly replica?: string | undefined;
  /** The stored part of a legacy session over HTTP, which other replicas and later processes can continue. */
  readonly stored?: StoredSession | undefined;
  /** Absent if no sign-in can be offered to the client. */
  readonly signIns?: SignInOffers | undefined;
  readonly log: Logger;
  readonly version: string;
}

/** Creates the session of one client. Creating it is cheap, because most modern clients get one per request. */
export function createClientSession(options: ClientSessionOptions): SessionConnection {
  const { backend } = options;
  const session =
    backend.kind === 'gateway' ? new GatewaySession(options) : new SingleServerSession(options, backend);
  session.restore();
  return session;
}

/** The parts of a session that only connected clients need; they are created on first use. */
interface SessionState {
  readonly receivedLists: ReceivedLists;
  readonly subscriptions: ClientSubscriptions;
  readonly settings: SessionSettings;
}

/** The state of one client between its requests; `handle-request.ts` answers the requests. */
export abstract class ClientSession implements SessionConnection {
  readonly options: ClientSessionOptions;
  readonly exposure: SessionExposure;
  abstract readonly isSingleServer: boolean;
  /** Whether the single server has no other client. */
  abstract readonly hasSingleClient: boolean;
  /** The capabilities that a legacy client declared in `initialize`; a modern client sends them with every request. */
  capabilities: JsonObject = {};
  info: JsonObject | undefined;
  logLevel: string | undefined;
  /** Pending until the response to `initialize` has been sent. */
  handshake: Promise<void> | undefined;
  isClosed = false;
  #id: string | undefined;
  #questions: ClientQuestions | undefined;
  #state: SessionState | undefined;
  #attachment: Disposable | undefined;

  constructor(options: ClientSessionOptions) {
    this.options = options;
    this.exposure = new SessionExposure(options.exposure, this);
  }

  /** Whether the server itself must answer a request that the gateway would otherwise answer. */
  abstract mustForward(method: string, params: JsonObject, era: Era): boolean;

  /** Describes the gateway or the single server, for the response to `initialize` or `server/discover`. */
  abstract describe(
    client: { readonly era: Era; readonly name?: string | undefined; readonly version?: string },
    encode: (description: ServerDescription) => Payload,
  ): Promise<Payload> | Payload;

  /** Returns the `_meta` of a list. */
  abstract listMeta(method: string, view: CatalogView, era: Era): JsonObject | undefined;

  abstract handleNotification(method: string, params: JsonObject | undefined): void;

  /** Returns the lists whose changes can be announced. */
  protected abstract announcedLists(): ChangedLists;

  /** Lets the server contact this client outside of calls. */
  protected abstract attach(): Disposable | undefined;

  /** Unique among all sessions. It is created on first use, because a modern client that does not stay connected needs none. */
  get id(): string {
    return (this.#id ??= this.options.stored?.id ?? randomUUID());
  }

  get questions(): ClientQuestions {
    return (this.#questions ??= new ClientQuestions(this.options.replica));
  }

  get view(): CatalogView {
    return this.options.backend.view(this.options.caller);
  }

  get exposureVersion(): unknown {
    return this.options.exposureVersion?.();
  }

  get state(): SessionState {
    if (this.#state === undefined) {
      const { backend, caller, replica } = this.options;
      const subscriptions = new ClientSubscriptions(backend, caller, (clientName) =>
        this.exposure.digests(this.view, 'modern', clientName),
      );
      this.#state = {
        receivedLists: new ReceivedLists({ hasOtherReplicas: replica !== undefined }),
        subscriptions,
        settings: new SessionSettings(this, subscriptions),
      };
      // A late request must not open subscriptions that nothing would close.
      if (this.isClosed) subscriptions.close();
    }
    return this.#state;
  }

  /** The state, or undefined if no request has needed it so far. */
  get existingState(): SessionState | undefined {
    return this.#state;
  }

  /** Returns the key of the session. A modern client that does not stay connected has no session and gets the key of its caller. */
  sessionKey(era: Era): string {
    const { isConnection = false, caller } = this.options;
    return era === 'legacy' || isConnection ? this.id : `caller:${callerKey(caller)}`;
  }

  handleRequest(request: IncomingRequest): void {
    handleRequest(this, request);
  }

  handleResponse(message: Extract<RpcMessage, { kind: 'result' | 'error' }>): void {
    this.questions.response(message);
  }

  /** Continues a session that was opened at another replica or before a restart. */
  restore(): void {
    const facts = this.options.stored?.restored?.facts;
    if (facts === undefined) return;
    this.register(facts.info, facts.capabilities, { mayHaveListedBefore: true });
    this.options.clients?.open(this, this.info, facts.protocol);
  }

  /** Records the description of a legacy client, and starts to announce changes to the client. */
  register(
    info: unknown,
    capabilities: unknown,
    // The client of a single server receives announcements even before it has requested a list, as it would without the gateway.
    { mayHaveListedBefore = this.isSingleServer } = {},
  ): void {
    this.exposure.clientName = clientInfoName(info);
    this.info = isJsonObject(info) ? info : undefined;
    this.capabilities = isJsonObject(capabilities) ? capabilities : {};
    this.options.backend.declareClient(this.capabilities);
    const { receivedLists, subscriptions } = this.state;
    receivedLists.start(this.view, { mayHaveListedBefore });
    subscriptions.onListsChanged((changed) => this.#announce(changed));
    this.#attachment ??= this.attach();
  }

  adopt(settings: ClientSettings): Promise<void> {
    return this.state.settings.adopt(settings);
  }

  onClientReturned(): void {
    this.state.receivedLists.reset();
    this.#announce(this.announcedLists());
  }

  onReveal(names: readonly string[]): void {
    const { receivedLists, settings } = this.state;
    receivedLists.recordToolsAnnouncement({ digests: this.exposure.digests(this.view, 'legacy') });
    settings.saveRevealed(names);
  }

  close(): void {
    this.isClosed = true;
    this.#attachment?.[Symbol.dispose]();
    this.#questions?.close();
    if (this.#id !== undefined) {
      this.options.backend.endSession(this.#id);
      this.options.clients?.close(this.#id);
    }
    this.#state?.subscriptions.close();
  }

  #announce(changed: ChangedLists): void {
    const { view } = this;
    const digests = this.exposure.digests(view, 'legacy');
    for (const method of this.state.receivedLists.notificationsFor(changed, { digests }, view)) {
      this.options.channel.notify(method, undefined);
    }
  }
}

const ALL_LISTS: ChangedLists = { tools: true, prompts: true, resources: true };

/** The session of a client that uses the gateway with all its servers. */
class GatewaySession extends ClientSession {
  readonly isSingleServer = false;
  readonly hasSingleClient = false;

  mustForward(): boolean {
    return false;
  }

  describe(
    client: { readonly era: Era; readonly name?: string | undefined; readonly version?: string },
    encode: (description: ServerDescription) => Payload,
  ): Payload {
    const { lists, version } = this.options;
    const { view } = this;
    const exposure = this.exposure.for(client.era, client.name);
    return lists.getDescription(view, exposure, `${client.era} ${client.version ?? ''}`, () =>
      encode(describeGateway(version, exposure.instructions(view), view.servers, client.era)),
    );
  }

  listMeta(): undefined {
    return undefined;
  }

  /** Ignores notifications: the gateway needs none of them, and the transports handle cancellation. */
  handleNotification(): void {}

  protected announcedLists(): ChangedLists {
    return ALL_LISTS;
  }

  protected attach(): undefined {
    return undefined;
  }
}

/** Notifications that concern only the connection between client and gateway, so they are not forwarded to the server. */
const HOP_NOTIFICATIONS: ReadonlySet<string> = new Set([
  'notifications/initialized',
  'notifications/cancelled',
]);

/** The session of a client that uses one server, as if it were connected to it directly. */
class SingleServerSession extends ClientSession {
  readonly isSingleServer = true;
  readonly hasSingleClient: boolean;
  readonly #backend: SingleServerBackend;

  constructor(options: ClientSessionOptions, backend: SingleServerBackend) {
    super(options);
    this.#backend = backend;
    this.hasSingleClient = backend.hasSingleClient;
  }

  mustForward(method: string, params: JsonObject, era: Era): boolean {
    return this.#backend.mustForward(method, params, era);
  }

  async describe(
    { era }: { readonly era: Era },
    encode: (description: ServerDescription) => Payload,
  ): Promise<Payload> {
    const facts = await this.#backend.waitForFacts();
    return encode(describeSingleServer(facts, era, this.options.version));
  }

  listMeta(method: string, view: CatalogView, era: Era): JsonObject | undefined {
    return buildListMeta(method, view.servers[0]?.facts, era);
  }

  handleNotification(method: string, params: JsonObject | undefined): void {
    if (!HOP_NOTIFICATIONS.has(method)) this.#backend.notify(method, params);
  }

  protected announcedLists(): ChangedLists {
    const capabilities = this.view.servers[0]?.facts?.capabilities;
    const has = (kind: string): boolean => capabilities === undefined || kind in capabilities;
    return { tools: has('tools'), prompts: has('prompts'), resources: has('resources') };
  }

  protected attach(): Disposable {
    const channel = new UnsolicitedChannel(this, this.options.channel, this.hasSingleClient);
    return this.#backend.attach(channel);
  }
}
