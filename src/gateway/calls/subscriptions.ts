import { Cancellation } from '../../lib/cancellation.ts';
import type { ClientBehind } from '../../model/client-behind.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { splitWatched, watchedBy } from '../../model/watched.ts';
import type { SignedIn } from '../../upstream/sharing/pool.ts';
import type { Upstream } from '../../upstream/upstream.ts';

type Listener = (params: JsonObject) => void;
type Subscribable = Pick<Upstream, 'subscribe'>;

/** Other gateways whose own processes of a server may notice what ours does not. */
export interface SubscribedElsewhere {
  /** They may listen here as well, and tell what they have noticed. */
  serve(subscriptions: Subscriptions): void;
  /** Everything that somebody here listens to, at one server with one sign-in; resolves when they follow it, or take too long. */
  wanted(at: SignedIn, uris: readonly string[]): Promise<void>;
}

interface Subscribed {
  readonly listeners: Set<Listener>;
  /** Those of them that tell other gateways. */
  readonly foreign: Set<Listener>;
  /** What the upstream said; every listener is told the same. */
  readonly agreed: Promise<void>;
}

interface Wanted {
  readonly at: SignedIn;
  readonly watched: Map<string, Subscribed>;
}

/** One subscription upstream per resource or task and sign-in, however many clients listen. */
export class Subscriptions {
  readonly #upstream: (at: SignedIn) => Subscribable | undefined;
  readonly #wanted = new Map<string, Wanted>();
  readonly #elsewhere: SubscribedElsewhere | undefined;

  constructor(upstream: (at: SignedIn) => Subscribable | undefined, elsewhere?: SubscribedElsewhere) {
    this.#upstream = upstream;
    this.#elsewhere = elsewhere;
    elsewhere?.serve(this);
  }

  /** Resolves when the upstream agreed; the listener hears of updates until it is disposed of. */
  async add(
    at: SignedIn,
    uri: string,
    listener: Listener,
    behind?: ClientBehind,
    { isForeign = false }: { readonly isForeign?: boolean } = {},
  ): Promise<Disposable> {
    const key = keyOf(at);
    let wanted = this.#wanted.get(key);
    if (wanted === undefined) this.#wanted.set(key, (wanted = { at, watched: new Map() }));
    let subscribed = wanted.watched.get(uri);
    if (subscribed === undefined) {
      const uris = new Set([...wanted.watched.keys(), uri]);
      subscribed = { listeners: new Set(), foreign: new Set(), agreed: this.#tell(at, uris, behind) };
      wanted.watched.set(uri, subscribed);
    }
    subscribed.listeners.add(listener);
    if (isForeign) subscribed.foreign.add(listener);
    const followed = isForeign ? undefined : this.#tellOthers(at);
    const subscription = { [Symbol.dispose]: () => this.#remove(at, uri, listener) };
    try {
      await subscribed.agreed;
      await followed;
    } catch (error) {
      subscription[Symbol.dispose]();
      throw error;
    }
    return subscription;
  }

  /** `params` as the upstream said them; nobody hears what it said to another sign-in. */
  updated(
    at: SignedIn,
    params: JsonObject,
    { isForeign = false }: { readonly isForeign?: boolean } = {},
  ): void {
    const uri = watchedBy(params) ?? '';
    const subscribed = this.#wanted.get(keyOf(at))?.watched.get(uri);
    for (const listener of subscribed?.listeners ?? [])
      // Each gateway tells what its own processes notice.
      if (!isForeign || subscribed?.foreign.has(listener) !== true) listener(params);
  }

  /** The upstream was replaced by a new one, which has to be told. */
  renew(name: UpstreamName): void {
    for (const { at, watched } of this.#wanted.values()) {
      if (at.name !== name) continue;
      // Best effort: its connection is in trouble otherwise, which is in its state.
      this.#tell(at, new Set(watched.keys())).catch(() => {});
    }
  }

  /** The upstream is no more. */
  forget(name: UpstreamName): void {
    for (const [key, { at }] of [...this.#wanted]) if (at.name === name) this.#wanted.delete(key);
  }

  #remove(at: SignedIn, uri: string, listener: Listener): void {
    const key = keyOf(at);
    const watched = this.#wanted.get(key)?.watched;
    const { listeners, foreign } = watched?.get(uri) ?? {};
    if (watched === undefined || listeners?.delete(listener) !== true) return;
    const wasForeign = foreign?.delete(listener) === true;
    if (listeners.size > 0) return wasForeign ? undefined : void this.#tellOthers(at);
    watched.delete(uri);
    if (watched.size === 0) this.#wanted.delete(key);
    if (!wasForeign) void this.#tellOthers(at);
    // Best effort: an update that nobody waits for is dropped here anyway.
    this.#tell(at, new Set(watched.keys())).catch(() => {});
  }

  #tellOthers(at: SignedIn): Promise<void> | undefined {
    if (this.#elsewhere === undefined) return undefined;
    const watched = [...(this.#wanted.get(keyOf(at))?.watched ?? [])];
    const own = watched.filter(([, { listeners, foreign }]) => listeners.size > foreign.size);
    return this.#elsewhere.wanted(at, splitWatched(own.map(([uri]) => uri)).uris);
  }

  async #tell(at: SignedIn, uris: ReadonlySet<string>, behind?: ClientBehind): Promise<void> {
    await this.#upstream(at)?.subscribe(uris, new Cancellation(), behind);
  }
}

function keyOf({ name, signedInAs }: SignedIn): string {
  return JSON.stringify([name, signedInAs]);
}
