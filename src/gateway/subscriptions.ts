import { Cancellation } from '../lib/cancellation.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { watchedBy } from '../model/watched.ts';
import type { Upstream } from '../upstream/upstream.ts';

type Listener = (params: JsonObject) => void;
type Subscribable = Pick<Upstream, 'subscribe'>;

interface Subscribed {
  readonly listeners: Set<Listener>;
  /** What the upstream said; every listener is told the same. */
  readonly agreed: Promise<void>;
}

/** One subscription upstream per resource or task, however many clients listen. */
export class Subscriptions {
  readonly #upstream: (name: UpstreamName) => Subscribable | undefined;
  readonly #subscribed = new Map<UpstreamName, Map<string, Subscribed>>();

  constructor(upstream: (name: UpstreamName) => Subscribable | undefined) {
    this.#upstream = upstream;
  }

  /** Resolves when the upstream agreed; the listener hears of updates until it is disposed of. */
  async add(name: UpstreamName, uri: string, listener: Listener, behind?: ClientBehind): Promise<Disposable> {
    let ofUpstream = this.#subscribed.get(name);
    if (ofUpstream === undefined) this.#subscribed.set(name, (ofUpstream = new Map<string, Subscribed>()));
    let subscribed = ofUpstream.get(uri);
    if (subscribed === undefined) {
      const wanted = new Set([...ofUpstream.keys(), uri]);
      subscribed = { listeners: new Set(), agreed: this.#tell(name, wanted, behind) };
      ofUpstream.set(uri, subscribed);
    }
    subscribed.listeners.add(listener);
    const subscription = { [Symbol.dispose]: () => this.#remove(name, uri, listener) };
    try {
      await subscribed.agreed;
    } catch (error) {
      subscription[Symbol.dispose]();
      throw error;
    }
    return subscription;
  }

  /** `params` as the upstream said them. */
  updated(name: UpstreamName, params: JsonObject): void {
    const watched = watchedBy(params) ?? '';
    for (const listener of this.#subscribed.get(name)?.get(watched)?.listeners ?? []) listener(params);
  }

  /** The upstream was replaced by a new one, which has to be told. */
  renew(name: UpstreamName): void {
    const uris = this.#subscribed.get(name)?.keys();
    // Best effort: its connection is in trouble otherwise, which is in its state.
    if (uris !== undefined) this.#tell(name, new Set(uris)).catch(() => {});
  }

  #remove(name: UpstreamName, uri: string, listener: Listener): void {
    const ofUpstream = this.#subscribed.get(name);
    const listeners = ofUpstream?.get(uri)?.listeners;
    if (ofUpstream === undefined || listeners?.delete(listener) !== true || listeners.size > 0) return;
    ofUpstream.delete(uri);
    // Best effort: an update that nobody waits for is dropped here anyway.
    this.#tell(name, new Set(ofUpstream.keys())).catch(() => {});
  }

  async #tell(name: UpstreamName, uris: ReadonlySet<string>, behind?: ClientBehind): Promise<void> {
    await this.#upstream(name)?.subscribe(uris, new Cancellation(), behind);
  }
}
