import type { UpstreamName } from '../../core/ids.ts';
import type { JsonObject } from '../../core/json.ts';
import { Cancellation } from '../../core/lib/cancellation.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { splitSubscriptionKeys, subscriptionKeyOf } from '../../core/subscription-keys.ts';
import type { UpstreamSignIn } from '../../upstream/upstream-pool.ts';
import type { Upstream } from '../../upstream/upstream.ts';

type UpdateListener = (params: JsonObject) => void;
type Subscribable = Pick<Upstream, 'subscribe'>;

/** Exchanges subscriptions with other gateways. Their processes of a server may notice changes that the process here does not. */
export interface SubscriptionSync {
  /** Connects the subscriptions of this gateway, to which other gateways then add theirs. */
  connect(subscriptions: ResourceSubscriptions): void;
  /**
   * Announces the URIs that clients of this gateway are subscribed to, for one server and sign-in. Resolves when the other gateways have
   * subscribed, or after a timeout.
   */
  announce(at: UpstreamSignIn, uris: readonly string[]): Promise<void>;
}

interface SubscriptionOrigin {
  /** Whether another gateway is the subscriber, or the source of the update. */
  readonly isRemote?: boolean;
}

interface KeySubscription {
  readonly listeners: Set<UpdateListener>;
  /** The subset of `listeners` that report to other gateways. */
  readonly remoteListeners: Set<UpdateListener>;
  /** Resolves when the upstream has accepted the subscription; all listeners share it. */
  readonly accepted: Promise<void>;
}

interface UpstreamSubscriptions {
  readonly at: UpstreamSignIn;
  readonly byKey: Map<string, KeySubscription>;
}

/**
 * Keeps one subscription at the upstream per sign-in and key, however many clients listen. A key is the URI of a resource or the key of
 * a task.
 */
export class ResourceSubscriptions {
  readonly #findUpstream: (at: UpstreamSignIn) => Subscribable | undefined;
  readonly #upstreams = new Map<string, UpstreamSubscriptions>();
  readonly #sync: SubscriptionSync | undefined;

  constructor(findUpstream: (at: UpstreamSignIn) => Subscribable | undefined, sync?: SubscriptionSync) {
    this.#findUpstream = findUpstream;
    this.#sync = sync;
    sync?.connect(this);
  }

  /** Resolves when the upstream has accepted the subscription. The listener is called until the result is disposed. */
  async add(
    at: UpstreamSignIn,
    key: string,
    listener: UpdateListener,
    requestingClient?: RequestingClient,
    { isRemote = false }: SubscriptionOrigin = {},
  ): Promise<Disposable> {
    const upstreamKey = signInKey(at);
    let upstream = this.#upstreams.get(upstreamKey);
    if (upstream === undefined) this.#upstreams.set(upstreamKey, (upstream = { at, byKey: new Map() }));
    let subscription = upstream.byKey.get(key);
    if (subscription === undefined) {
      const keys = new Set([...upstream.byKey.keys(), key]);
      const accepted = this.#updateUpstream(at, keys, requestingClient);
      subscription = { listeners: new Set(), remoteListeners: new Set(), accepted };
      upstream.byKey.set(key, subscription);
    }
    subscription.listeners.add(listener);
    if (isRemote) subscription.remoteListeners.add(listener);
    const announced = isRemote ? undefined : this.#announce(at);
    const disposable = { [Symbol.dispose]: () => this.#remove(at, key, listener) };
    try {
      await subscription.accepted;
      await announced;
    } catch (error) {
      disposable[Symbol.dispose]();
      throw error;
    }
    return disposable;
  }

  /** Passes an update of an upstream to the listeners of the same sign-in. */
  notify(at: UpstreamSignIn, params: JsonObject, { isRemote = false }: SubscriptionOrigin = {}): void {
    const key = subscriptionKeyOf(params) ?? '';
    const subscription = this.#upstreams.get(signInKey(at))?.byKey.get(key);
    for (const listener of subscription?.listeners ?? [])
      // An update from another gateway is not reported to other gateways, because its source has reported it to them already.
      if (!isRemote || subscription?.remoteListeners.has(listener) !== true) listener(params);
  }

  /** Subscribes again at an upstream that has been replaced by a new one. */
  resubscribe(name: UpstreamName): void {
    for (const { at, byKey } of this.#upstreams.values()) {
      if (at.name !== name) continue;
      // A failure is visible in the state of the upstream.
      this.#updateUpstream(at, new Set(byKey.keys())).catch(() => {});
    }
  }

  /** Drops the subscriptions at an upstream that left the configuration. */
  forget(name: UpstreamName): void {
    for (const [key, { at }] of [...this.#upstreams]) if (at.name === name) this.#upstreams.delete(key);
  }

  #remove(at: UpstreamSignIn, key: string, listener: UpdateListener): void {
    const upstreamKey = signInKey(at);
    const byKey = this.#upstreams.get(upstreamKey)?.byKey;
    const { listeners, remoteListeners } = byKey?.get(key) ?? {};
    if (byKey === undefined || listeners?.delete(listener) !== true) return;
    const wasRemote = remoteListeners?.delete(listener) === true;
    // Other gateways learn only of local listeners, so removing a remote one announces nothing.
    if (listeners.size > 0) return wasRemote ? undefined : void this.#announce(at);
    byKey.delete(key);
    if (byKey.size === 0) this.#upstreams.delete(upstreamKey);
    if (!wasRemote) void this.#announce(at);
    // If this fails, further updates have no listener and are dropped.
    this.#updateUpstream(at, new Set(byKey.keys())).catch(() => {});
  }

  /** Announces the resources that have at least one local listener to the other gateways. Tasks are not exchanged. */
  #announce(at: UpstreamSignIn): Promise<void> | undefined {
    if (this.#sync === undefined) return undefined;
    const subscriptions = [...(this.#upstreams.get(signInKey(at))?.byKey ?? [])];
    const local = subscriptions.filter(
      ([, { listeners, remoteListeners }]) => listeners.size > remoteListeners.size,
    );
    return this.#sync.announce(at, splitSubscriptionKeys(local.map(([key]) => key)).uris);
  }

  /** Replaces the set of keys that this gateway is subscribed to at the upstream. */
  async #updateUpstream(
    at: UpstreamSignIn,
    keys: ReadonlySet<string>,
    requestingClient?: RequestingClient,
  ): Promise<void> {
    await this.#findUpstream(at)?.subscribe(keys, new Cancellation(), requestingClient);
  }
}

function signInKey({ name, signedInAs }: UpstreamSignIn): string {
  return JSON.stringify([name, signedInAs]);
}
