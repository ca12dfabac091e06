import { Cancellation } from '../lib/cancellation.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { Upstream } from '../upstream/upstream.ts';

type Listener = () => void;

/** One subscription upstream per resource, however many clients listen. */
export class Subscriptions {
  readonly #upstream: (name: UpstreamName) => Upstream | undefined;
  readonly #listeners = new Map<UpstreamName, Map<string, Set<Listener>>>();

  constructor(upstream: (name: UpstreamName) => Upstream | undefined) {
    this.#upstream = upstream;
  }

  /** Resolves when the upstream agreed; the listener hears of updates until it is disposed of. */
  async add(name: UpstreamName, uri: string, listener: Listener): Promise<Disposable> {
    let ofUpstream = this.#listeners.get(name);
    if (ofUpstream === undefined) this.#listeners.set(name, (ofUpstream = new Map<string, Set<Listener>>()));
    let listeners = ofUpstream.get(uri);
    const isFirst = listeners === undefined;
    if (listeners === undefined) ofUpstream.set(uri, (listeners = new Set()));
    listeners.add(listener);
    const subscription = { [Symbol.dispose]: () => this.#remove(name, uri, listener) };
    if (!isFirst) return subscription;
    try {
      await this.#tell(name);
    } catch (error) {
      subscription[Symbol.dispose]();
      throw error;
    }
    return subscription;
  }

  updated(name: UpstreamName, uri: string): void {
    for (const listener of this.#listeners.get(name)?.get(uri) ?? []) listener();
  }

  #remove(name: UpstreamName, uri: string, listener: Listener): void {
    const ofUpstream = this.#listeners.get(name);
    const listeners = ofUpstream?.get(uri);
    if (
      ofUpstream === undefined ||
      listeners === undefined ||
      !listeners.delete(listener) ||
      listeners.size > 0
    )
      return;
    ofUpstream.delete(uri);
    this.#tell(name).catch(() => {}); // Best effort: an update that nobody waits for is dropped here anyway.
  }

  async #tell(name: UpstreamName): Promise<void> {
    const uris = new Set(this.#listeners.get(name)?.keys());
    await this.#upstream(name)?.subscribe(uris, new Cancellation());
  }
}
