import { Cancellation } from '../core/lib/cancellation.ts';
import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { omitUndefined } from '../core/lib/omit-undefined.ts';
import { pickMoreVerbose } from '../core/log-level.ts';
import { splitSubscriptionKeys } from '../core/subscription-keys.ts';
import type { Logger } from '../observability/log.ts';
import type { RequestOptions } from './upstream-call.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Remembers the subscriptions and the log level that clients want from one server, and applies them to every new connection. */
export class DesiredSubscriptions {
  readonly #bySubscriber = new Map<string, ReadonlySet<string>>();
  #watched: ReadonlySet<string> = new Set();
  #logLevel: string | undefined;

  /** The resources and tasks for which at least one subscriber wants updates. */
  get watched(): ReadonlySet<string> {
    return this.#watched;
  }

  /** Replaces everything that this subscriber wants. */
  set(subscriber: string, watched: ReadonlySet<string>): void {
    if (watched.size === 0) this.#bySubscriber.delete(subscriber);
    else this.#bySubscriber.set(subscriber, watched);
    this.#watched = new Set([...this.#bySubscriber.values()].flatMap((set) => [...set]));
  }

  /** Raises the log level of legacy servers, which have one level for all clients; each message is filtered per client later. */
  raiseLogLevel(level: string, connection: UpstreamConnection | undefined): void {
    const raised = pickMoreVerbose(level, this.#logLevel);
    if (raised === this.#logLevel) return;
    this.#logLevel = raised;
    connection?.subscriptions.setLogLevel(raised);
  }

  /** Subscribes a new connection. A failure is only logged: a refused subscription must not make the connection useless. */
  applyTo(connection: UpstreamConnection, log: Logger): void {
    const { subscriptions, opened } = connection;
    if (this.#logLevel !== undefined) subscriptions.setLogLevel(this.#logLevel);
    if (this.#watched.size === 0 && opened.facts.era === 'legacy') return;
    subscriptions.update(this.#watched, { cancellation: new Cancellation() }).catch((error: unknown) => {
      log.warn('Cannot restore resource subscriptions after a reconnect.', { reason: String(error) });
    });
  }
}

/** Modern servers report tasks only to clients that declare task support. The gateway declares it, since one of its clients may have it. */
const TASK_CAPABILITIES = { extensions: { 'io.modelcontextprotocol/tasks': {} } };

/** The subscriptions of one connection: single requests to a legacy server, `subscriptions/listen` streams to a modern one. */
export class ConnectionSubscriptions {
  readonly #connection: UpstreamConnection;
  readonly #listStream: ListenStream;
  /** A separate stream, because a server that refuses task updates must still report list changes. */
  readonly #taskStream: ListenStream;
  #watched: ReadonlySet<string> = new Set();
  /** Settles when a legacy server has answered the last change. */
  #lastChange: Promise<void> = Promise.resolve();

  constructor(connection: UpstreamConnection) {
    this.#connection = connection;
    this.#listStream = new ListenStream(connection, {});
    this.#taskStream = new ListenStream(connection, TASK_CAPABILITIES);
  }

  /**
   * Watches exactly these resources and tasks. On a modern server it also watches the lists, whose changes a legacy server reports
   * without a subscription.
   */
  async update(
    watched: ReadonlySet<string>,
    options: Pick<RequestOptions, 'cancellation' | 'requestingClient'>,
  ): Promise<void> {
    const before = this.#watched;
    this.#watched = watched;
    const added = splitSubscriptionKeys([...watched].filter((key) => !before.has(key)));
    const removed = splitSubscriptionKeys([...before].filter((key) => !watched.has(key)));
    const hasNewUris = added.uris.length + removed.uris.length > 0;
    if (this.#connection.opened.facts.era === 'legacy') {
      if (hasNewUris) this.#lastChange = this.#sendChanges(added.uris, removed.uris, options);
      return this.#lastChange;
    }
    const { uris, tasks } = splitSubscriptionKeys(watched);
    if (hasNewUris || !this.#listStream.isOpen) this.#listStream.open(this.#listFilter(uris));
    if (added.tasks.length + removed.tasks.length > 0)
      this.#taskStream.open(tasks.length > 0 ? { taskIds: tasks } : {});
  }

  /** Sets the log level of a legacy server. Ignores failures, because messages are filtered per client in any case. */
  setLogLevel(level: string): void {
    const { era, capabilities } = this.#connection.opened.facts;
    if (era === 'modern' || !isJsonObject(capabilities['logging'])) return;
    const options = { cancellation: new Cancellation() };
    this.#connection.request('logging/setLevel', { level }, options).catch(() => {});
  }

  async #sendChanges(
    added: readonly string[],
    removed: readonly string[],
    options: RequestOptions,
  ): Promise<void> {
    const connection = this.#connection;
    await Promise.all([
      ...added.map((uri) => connection.request('resources/subscribe', { uri }, options)),
      ...removed.map((uri) => connection.request('resources/unsubscribe', { uri }, options)),
    ]);
  }

  #listFilter(uris: readonly string[]): JsonObject {
    const { tools, prompts, resources } = this.#connection.opened.facts.capabilities;
    return omitUndefined({
      toolsListChanged: hasListChanges(tools) ? true : undefined,
      promptsListChanged: hasListChanges(prompts) ? true : undefined,
      resourcesListChanged: hasListChanges(resources) ? true : undefined,
      resourceSubscriptions: uris.length > 0 ? uris : undefined,
    });
  }
}

function hasListChanges(capability: unknown): boolean {
  return isJsonObject(capability) && capability['listChanged'] === true;
}

/** The pause before a stream that the server ended is opened again. */
const REOPEN_AFTER_MS = 1000;

interface ListenRequest {
  readonly filter: JsonObject;
  readonly cancellation: Cancellation;
}

/** Keeps one `subscriptions/listen` request open; its notifications arrive through the handlers of the connection. */
class ListenStream {
  readonly #connection: UpstreamConnection;
  readonly #extraCapabilities: JsonObject;
  #current: ListenRequest | undefined;

  constructor(connection: UpstreamConnection, extraCapabilities: JsonObject) {
    this.#connection = connection;
    this.#extraCapabilities = extraCapabilities;
  }

  get isOpen(): boolean {
    return this.#current !== undefined;
  }

  /**
   * Replaces the filter. The filter of an open request cannot change, so a new request is opened before the old one is cancelled. An
   * empty filter opens none.
   */
  open(filter: JsonObject): void {
    const previous = this.#current;
    this.#current = undefined;
    if (Object.keys(filter).length > 0) {
      const current = { filter, cancellation: new Cancellation() };
      this.#current = current;
      // The request is opened again whether it ended with a result or with an error.
      const reopen = (): void => this.#reopenLater(current);
      this.#listen(current).then(reopen, reopen);
    }
    previous?.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'Replaced by a new subscription.'));
  }

  #listen({ filter, cancellation }: ListenRequest): Promise<unknown> {
    const capabilities = { ...this.#connection.identity.capabilities, ...this.#extraCapabilities };
    const params = { notifications: filter };
    return this.#connection.request('subscriptions/listen', params, { cancellation, capabilities });
  }

  #reopenLater(ended: ListenRequest): void {
    const isCurrent = (): boolean => this.#current === ended && !this.#connection.isClosed;
    if (!isCurrent()) return;
    setTimeout(() => {
      if (isCurrent()) this.open(ended.filter);
    }, REOPEN_AFTER_MS).unref();
  }
}
