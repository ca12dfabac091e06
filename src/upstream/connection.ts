import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { Credentials } from '../model/credentials.ts';
import type { Entry } from '../model/entry.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import { splitWatched } from '../model/watched.ts';
import type { Logger } from '../observe/log.ts';
import { withEnvelope } from '../wire/envelope.ts';
import type { Payload } from '../lib/payload.ts';
import { MirroredParams } from '../wire/http/mirrored-params.ts';
import { paramHeaders } from '../wire/http/param-headers.ts';
import type { PeerHandlers, PeerRequestOptions, Progress, Reply } from '../wire/peer.ts';
import { ForeignAnswerError } from '../wire/stream.ts';
import { classifyExchange, classifyHop, classifyLoss } from './opening/classify.ts';
import { Carriage } from './carriage.ts';
import type { Carrier } from './carriage.ts';
import { Exchange } from './exchange.ts';
import type { ExchangeLine } from './exchange.ts';
import { Listening } from './listening.ts';
import type { ClientIdentity } from './opening/negotiate.ts';
import type { Opened, OpenPeer } from './open-peer.ts';
import { serverMessages } from './server-messages.ts';
import type { ServerMessageOptions } from './server-messages.ts';

export interface RequestOptions {
  readonly cancellation: Cancellation;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly behind?: ClientBehind | undefined;
  /** What is told to a modern server of the client, where no client is behind it. */
  readonly capabilities?: JsonObject;
  /** What is called, where it is known. */
  readonly operation?: { readonly entry?: Entry };
}

export interface Asked {
  readonly method: string;
  readonly params: JsonObject;
  readonly options: RequestOptions;
}

/** One request, and whether a client asked it. */
export interface Carried extends Asked {
  readonly isCall: boolean;
  /** The server had forgotten our session, and has not read it. */
  readonly isRepeat?: boolean;
}

interface ConnectionOptions extends ServerMessageOptions {
  readonly identity: ClientIdentity;
  readonly era: Era | undefined;
  readonly cancellation: Cancellation;
  /** The client of such a call left with the question. */
  readonly onLeft: (connection: Connection) => void;
  readonly credentials?: Credentials | undefined;
  /** The server takes our credentials no longer. */
  readonly onSignedOut: (connection: Connection, error: GatewayError) => void;
  readonly log: Logger;
}

/** One living connection of an upstream; speaks the era that was agreed on it. */
export class Connection implements AsyncDisposable {
  readonly opened: Opened;
  /** Whether a call was answered; such a connection was a good one even if it ends soon. */
  hasServed = false;
  readonly #identity: ClientIdentity;
  readonly #line: ExchangeLine;
  readonly #mirrored = new MirroredParams();
  #subscribed: ReadonlySet<string> = new Set();
  /** What the server said to the last change of subscriptions. */
  #agreed: Promise<void> = Promise.resolve();
  readonly #listening = this.#listener({});
  readonly #listeningToTasks = this.#listener(TASKS);
  #underWay = 0;
  #quiet: Deferred<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(opened: Opened, { identity, owned, onSignedOut }: ConnectionOptions) {
    this.opened = opened;
    this.#identity = identity;
    this.#line = {
      owned,
      credentials: opened.credentials,
      send: (asked, reply) => this.#send(asked, reply),
      signedOut: (error) => onSignedOut(this, error),
    };
  }

  static async open(open: OpenPeer, config: UpstreamConfig, options: ConnectionOptions): Promise<Connection> {
    const { era, cancellation, credentials } = options;
    const made: { connection?: Connection } = {};
    const left = (): void => {
      if (made.connection !== undefined) options.onLeft(made.connection);
    };
    const handlers = handlersFor(config, options, left);
    const opened = await open(config, { era, cancellation, credentials, handlers });
    made.connection = new Connection(opened, options);
    return made.connection;
  }

  get isClosed(): boolean {
    return this.opened.peer.isClosed;
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<Payload> {
    return new Promise<Payload>((answered, failed) =>
      new Exchange(this.#line, { method, params, options }, { answered, failed }).begin(),
    );
  }

  /** Tells the server something that needs no answer. */
  notify(method: string, params: JsonObject | undefined): void {
    this.opened.peer.notify(method, params);
  }

  #send({ method, params, options }: Asked, reply: Reply): void {
    const { peer, facts } = this.opened;
    try {
      if (facts.era === 'legacy') peer.ask(method, params, options, reply);
      else
        peer.ask(method, this.#enveloped(params, options), this.#withHeaders(method, params, options), reply);
    } catch (error) {
      reply.failed(error);
    }
  }

  #enveloped(params: JsonObject, { behind, capabilities: own }: RequestOptions): JsonObject {
    const { info, capabilities } = this.#identity;
    const declared = behind?.capabilities ?? own ?? capabilities;
    return withEnvelope(params, { info, capabilities: declared, logLevel: behind?.logLevel });
  }

  #withHeaders(method: string, params: JsonObject, options: RequestOptions): PeerRequestOptions {
    const headers = method === 'tools/call' ? this.#headersFor(options.operation?.entry, params) : undefined;
    return headers === undefined ? options : { ...options, headers };
  }

  #headersFor(entry: Entry | undefined, params: JsonObject): Readonly<Record<string, string>> | undefined {
    if (entry?.kind !== 'tool') return undefined;
    const mirrored = this.#mirrored.of(entry);
    return mirrored.length === 0 ? undefined : paramHeaders(mirrored, params['arguments']);
  }

  /** Hears of changed lists, of these resources and of these tasks. Older servers tell of lists without being asked. */
  async subscribe(
    watched: ReadonlySet<string>,
    options: Pick<RequestOptions, 'cancellation' | 'behind'>,
  ): Promise<void> {
    const before = this.#subscribed;
    this.#subscribed = watched;
    const added = splitWatched([...watched].filter((one) => !before.has(one)));
    const removed = splitWatched([...before].filter((one) => !watched.has(one)));
    const changes = [
      ...added.uris.map((uri) => ['resources/subscribe', uri] as const),
      ...removed.uris.map((uri) => ['resources/unsubscribe', uri] as const),
    ];
    if (this.opened.facts.era === 'modern') {
      const { uris, tasks } = splitWatched(watched);
      if (changes.length > 0 || !this.#listening.isOpen) this.#listening.want(this.#changesOf(uris));
      // Apart from the others, so that a server which refuses it goes on telling of its lists.
      if (added.tasks.length + removed.tasks.length > 0)
        this.#listeningToTasks.want(tasks.length > 0 ? { taskIds: tasks } : {});
      return;
    }
    if (changes.length > 0) this.#agreed = this.#agree(changes, options);
    await this.#agreed;
  }

  async #agree(changes: readonly (readonly [string, string])[], options: RequestOptions): Promise<void> {
    await Promise.all(changes.map(([method, uri]) => this.request(method, { uri }, options)));
  }

  /** Best effort: what a server says more than anybody wants is dropped anyway. */
  setLogLevel(level: string): void {
    const { era, capabilities } = this.opened.facts;
    if (era === 'modern' || !isJsonObject(capabilities['logging'])) return;
    this.request('logging/setLevel', { level }, { cancellation: new Cancellation() }).catch(() => {});
  }

  /** Why a request failed, in words of ours unless the server said it itself. */
  async explain(error: unknown, name: UpstreamName): Promise<unknown> {
    if (error instanceof ForeignAnswerError) return classifyExchange(error, name);
    if (error instanceof GatewayError) return error;
    if (error instanceof RpcError) return classifyHop(error, name, this.opened.facts.era);
    return this.isClosed
      ? classifyLoss(error, name, await this.opened.hints())
      : classifyExchange(error, name);
  }

  /** A request that counts as under way here until it is over. */
  carry(asked: Carried, carrier: Carrier<Connection>): Promise<Payload> {
    this.#underWay++;
    carrier.begun();
    return new Promise<Payload>((resolve, reject) => {
      const carriage = new Carriage<Connection>(this, { asked, carrier }, resolve, reject);
      new Exchange(this.#line, asked, carriage).begin();
    });
  }

  /** One that was carried is over. */
  carried(hasServed: boolean): void {
    if (hasServed) this.hasServed = true;
    this.#underWay--;
    if (this.#underWay === 0) this.#quiet?.resolve();
  }

  /** Ends it when nothing is under way any more. */
  async retire(): Promise<void> {
    this.#quiet = deferred<void>();
    if (this.#underWay > 0) await this.#quiet.promise;
    await this[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#quiet?.resolve();
    this.#closing ??= this.opened.peer[Symbol.asyncDispose]();
    return this.#closing;
  }

  #changesOf(uris: readonly string[]): JsonObject {
    const { tools, prompts, resources } = this.opened.facts.capabilities;
    return {
      ...(offersChanges(tools) ? { toolsListChanged: true } : {}),
      ...(offersChanges(prompts) ? { promptsListChanged: true } : {}),
      ...(offersChanges(resources) ? { resourcesListChanged: true } : {}),
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    };
  }

  #listener(more: JsonObject): Listening {
    return new Listening({
      open: (notifications, cancellation) => {
        const capabilities = { ...this.#identity.capabilities, ...more };
        return this.request('subscriptions/listen', { notifications }, { cancellation, capabilities });
      },
      isClosed: () => this.isClosed,
    });
  }
}

/** Servers tell of tasks only whom can follow them, and some client of ours can. */
const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

function handlersFor(config: UpstreamConfig, options: ConnectionOptions, left: () => void): PeerHandlers {
  let skipped = 0;
  return {
    ...serverMessages(options, left),
    garbage: () => {
      skipped++;
      // The first says that it happens, then every thousandth: a flood must not become a flood of ours.
      if (skipped !== 1 && skipped % 1000 !== 0) return;
      options.log.warn('Skipped output of a server that is no message.', { upstream: config.name, skipped });
    },
  };
}

function offersChanges(capability: unknown): boolean {
  return isJsonObject(capability) && capability['listChanged'] === true;
}
