import { Cancellation } from '../../core/lib/cancellation.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { taskKey } from '../../core/subscription-keys.ts';
import type { Upstream } from '../../upstream/upstream.ts';

interface SubscriptionRequest {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

interface SubscriptionContext {
  readonly upstream: Upstream;
  readonly cancellation: Cancellation;
  readonly requestingClient: RequestingClient | undefined;
}

/**
 * Tracks the subscriptions of another replica at a server that this replica owns. The server receives the subscriptions of all replicas
 * combined, and each replica receives only the updates that it subscribed to.
 */
export class OwnedServerSubscriptions {
  /** Identifies the other replica as a subscriber of the upstream. */
  readonly #subscriber: string;
  /** URIs from `resources/subscribe` of the legacy protocol. */
  readonly #subscribedUris = new Set<string>();
  /** Keys from `subscriptions/listen` of the modern protocol, by the id of the request; they last as long as the request. */
  readonly #listenKeys = new Map<number, readonly string[]>();

  constructor(subscriber: string) {
    this.#subscriber = subscriber;
  }

  /** Whether the other replica has subscribed to a resource or task; see `subscriptionKeyOf` for the key. */
  has(key: string | undefined): boolean {
    return key !== undefined && this.#keys().has(key);
  }

  /**
   * Handles a request about subscriptions or the log level. Returns undefined for any other request, which the server itself must answer.
   */
  handleRequest(
    { id, method, params }: SubscriptionRequest,
    context: SubscriptionContext,
  ): Promise<JsonObject> | undefined {
    const { uri, level, notifications } = params;
    switch (method) {
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        if (typeof uri !== 'string') return undefined;
        if (method === 'resources/subscribe') this.#subscribedUris.add(uri);
        else this.#subscribedUris.delete(uri);
        return this.#update(context).then(() => ({}));
      case 'subscriptions/listen':
        return this.#listen(id, isJsonObject(notifications) ? notifications : {}, context);
      case 'logging/setLevel':
        if (typeof level === 'string') context.upstream.raiseLogLevel(level);
        return Promise.resolve({});
      default:
        return undefined;
    }
  }

  /** Removes all subscriptions of the other replica. */
  clear(upstream: Upstream | undefined): void {
    if (this.#keys().size === 0) return;
    this.#subscribedUris.clear();
    this.#listenKeys.clear();
    // A failure is ignored, because updates without a subscriber are dropped anyway.
    upstream?.subscribe(new Set(), new Cancellation(), undefined, this.#subscriber).catch(() => {});
  }

  /** Subscribes until the request is cancelled, and then rejects. List changes need no subscription, because all replicas receive them. */
  async #listen(id: number, notifications: JsonObject, context: SubscriptionContext): Promise<JsonObject> {
    const { resourceSubscriptions, taskIds } = notifications;
    this.#listenKeys.set(id, [...toStrings(resourceSubscriptions), ...toStrings(taskIds).map(taskKey)]);
    const { cancellation, upstream } = context;
    try {
      await this.#update(context);
      await new Promise((_, reject) => cancellation.onCancel(reject));
    } finally {
      this.#listenKeys.delete(id);
      const cleanup = { upstream, cancellation: new Cancellation(), requestingClient: undefined };
      this.#update(cleanup).catch(() => {}); // A failure is ignored for the same reason as in `clear`.
    }
    return {};
  }

  /** Replaces the subscriptions of the other replica at the upstream with the current ones. */
  #update({ upstream, cancellation, requestingClient }: SubscriptionContext): Promise<void> {
    return upstream.subscribe(this.#keys(), cancellation, requestingClient, this.#subscriber);
  }

  #keys(): ReadonlySet<string> {
    return new Set([...this.#subscribedUris, ...[...this.#listenKeys.values()].flat()]);
  }
}

function toStrings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}
