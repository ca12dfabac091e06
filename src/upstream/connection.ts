import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { Entry } from '../model/entry.ts';
import { GatewayError, RpcError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import type { Logger } from '../observe/log.ts';
import { RPC } from '../wire/era.ts';
import { withEnvelope } from '../wire/envelope.ts';
import type { Payload } from '../lib/payload.ts';
import { headerParams, paramHeaders } from '../wire/param-headers.ts';
import type { HeaderParam } from '../wire/param-headers.ts';
import type { PeerHandlers, Progress } from '../wire/peer.ts';
import { classifyExchange, classifyLoss } from './classify.ts';
import { answerQuestion, isQuestion, placed } from './questions.ts';
import type { ClientIdentity } from './negotiate.ts';
import type { Opened, OpenPeer } from './open-peer.ts';

export interface RequestOptions {
  readonly cancellation: Cancellation;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  readonly behind?: ClientBehind | undefined;
  /** What is called, where it is known. */
  readonly operation?: { readonly entry?: Entry };
}

interface ConnectionOptions {
  readonly identity: ClientIdentity;
  readonly era: Era | undefined;
  readonly cancellation: Cancellation;
  readonly onListChanged: () => void;
  readonly onResourceUpdated: (params: JsonObject) => void;
  /** The server asked something without saying in which call. */
  readonly onQuestion: () => void;
  /** The client of such a call left with the question. */
  readonly onLeft: (connection: Connection) => void;
  readonly log: Logger;
}

const LIST_CHANGES: ReadonlySet<string> = new Set([
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
]);

/** One living connection of an upstream; speaks the era that was agreed on it. */
export class Connection implements AsyncDisposable {
  readonly opened: Opened;
  /** Whether a call was answered; such a connection was a good one even if it ends soon. */
  hasServed = false;
  readonly #identity: ClientIdentity;
  readonly #mirrored = new WeakMap<Entry, readonly HeaderParam[]>();
  #subscribed: ReadonlySet<string> = new Set();
  /** What the server said to the last change of subscriptions. */
  #agreed: Promise<void> = Promise.resolve();
  #listening: Cancellation | undefined;
  #underWay = 0;
  #quiet: Deferred<void> | undefined;
  #closing: Promise<void> | undefined;

  private constructor(opened: Opened, identity: ClientIdentity) {
    this.opened = opened;
    this.#identity = identity;
  }

  static async open(open: OpenPeer, config: UpstreamConfig, options: ConnectionOptions): Promise<Connection> {
    const { era, cancellation } = options;
    const made: { connection?: Connection } = {};
    const left = (): void => {
      if (made.connection !== undefined) options.onLeft(made.connection);
    };
    const opened = await open(config, { era, cancellation, handlers: handlersFor(config, options, left) });
    made.connection = new Connection(opened, options.identity);
    return made.connection;
  }

  get isClosed(): boolean {
    return this.opened.peer.isClosed;
  }

  request(method: string, params: JsonObject, options: RequestOptions): Promise<Payload> {
    const { peer, facts } = this.opened;
    if (facts.era === 'legacy') return peer.request(method, params, options);
    const { info, capabilities } = this.#identity;
    const { behind } = options;
    const client = { info, capabilities: behind?.capabilities ?? capabilities, logLevel: behind?.logLevel };
    const headers = method === 'tools/call' ? this.#headersFor(options.operation?.entry, params) : undefined;
    return peer.request(method, withEnvelope(params, client), { ...options, headers });
  }

  #headersFor(entry: Entry | undefined, params: JsonObject): Readonly<Record<string, string>> | undefined {
    if (entry?.kind !== 'tool') return undefined;
    let mirrored = this.#mirrored.get(entry);
    if (mirrored === undefined) {
      mirrored = headerParams(entry.definition['inputSchema']) ?? [];
      this.#mirrored.set(entry, mirrored);
    }
    return mirrored.length === 0 ? undefined : paramHeaders(mirrored, params['arguments']);
  }

  /** Hears of changed lists and of these resources. Older servers tell of lists without being asked. */
  async subscribe(uris: ReadonlySet<string>, cancellation: Cancellation): Promise<void> {
    const before = this.#subscribed;
    this.#subscribed = uris;
    const changes = [
      ...[...uris].filter((uri) => !before.has(uri)).map((uri) => ['resources/subscribe', uri] as const),
      ...[...before].filter((uri) => !uris.has(uri)).map((uri) => ['resources/unsubscribe', uri] as const),
    ];
    if (this.opened.facts.era === 'modern') {
      if (changes.length > 0 || this.#listening === undefined) this.#listen();
      return;
    }
    if (changes.length > 0) this.#agreed = this.#ask(changes, cancellation);
    await this.#agreed;
  }

  async #ask(changes: readonly (readonly [string, string])[], cancellation: Cancellation): Promise<void> {
    await Promise.all(changes.map(([method, uri]) => this.request(method, { uri }, { cancellation })));
  }

  /** Best effort: what a server says more than anybody wants is dropped anyway. */
  setLogLevel(level: string): void {
    const { era, capabilities } = this.opened.facts;
    if (era === 'modern' || !isJsonObject(capabilities['logging'])) return;
    this.request('logging/setLevel', { level }, { cancellation: new Cancellation() }).catch(() => {});
  }

  /** Why a request failed, in words of ours unless the server said it itself. */
  async explain(error: unknown, name: UpstreamName): Promise<unknown> {
    if (error instanceof RpcError || error instanceof GatewayError) return error;
    return this.isClosed
      ? classifyLoss(error, name, await this.opened.hints())
      : classifyExchange(error, name);
  }

  /** A request is under way here until `finish`. */
  begin(): void {
    this.#underWay++;
  }

  finish(): void {
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

  /** The filter is fixed per request: a new one is opened before the old one is given up. */
  #listen(): void {
    const { tools, prompts, resources } = this.opened.facts.capabilities;
    const notifications = {
      ...(offersChanges(tools) ? { toolsListChanged: true } : {}),
      ...(offersChanges(prompts) ? { promptsListChanged: true } : {}),
      ...(offersChanges(resources) ? { resourcesListChanged: true } : {}),
      ...(this.#subscribed.size > 0 ? { resourceSubscriptions: [...this.#subscribed] } : {}),
    };
    const old = this.#listening;
    this.#listening = undefined;
    if (Object.keys(notifications).length > 0) {
      const cancellation = new Cancellation();
      this.#listening = cancellation;
      // Its notifications come through the handlers. A server may end it, and a server may be too old for it after all.
      const again = (): void => this.#listenAgain(cancellation);
      this.request('subscriptions/listen', { notifications }, { cancellation }).then(again, again);
    }
    old?.cancel(new GatewayError('CALL_CANCELLED', 'Replaced by a new subscription.'));
  }

  #listenAgain(ended: Cancellation): void {
    const isCurrent = (): boolean => this.#listening === ended && !this.isClosed;
    if (!isCurrent()) return;
    setTimeout(() => {
      if (isCurrent()) this.#listen();
    }, LISTEN_AGAIN_MS).unref();
  }
}

const LISTEN_AGAIN_MS = 1000;

function handlersFor(config: UpstreamConfig, options: ConnectionOptions, left: () => void): PeerHandlers {
  let skipped = 0;
  return {
    request: async (method, params, about) => {
      if (!isQuestion(method)) {
        throw new RpcError({ code: RPC.methodNotFound, message: `Method not found: ${method}` });
      }
      if (about.origin.own === undefined && about.origin.waiting.length > 0) {
        options.onQuestion();
        const behind = placed(about.origin);
        if (behind !== undefined) behind.onLeft = left;
      }
      return answerQuestion(method, params, about);
    },
    notification: (method, params, origin) => {
      if (LIST_CHANGES.has(method)) options.onListChanged();
      else if (method === 'notifications/message' && params !== undefined) placed(origin)?.log(params);
      else if (method === 'notifications/resources/updated' && params !== undefined)
        options.onResourceUpdated(params);
    },
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
