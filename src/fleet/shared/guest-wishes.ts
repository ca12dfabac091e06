import { Cancellation } from '../../lib/cancellation.ts';
import type { ClientBehind } from '../../model/client-behind.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { watchedTask } from '../../model/watched.ts';
import type { Upstream } from '../../upstream/upstream.ts';

interface Wish {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

interface How {
  readonly upstream: Upstream;
  readonly cancellation: Cancellation;
  readonly behind: ClientBehind | undefined;
}

/** What another gateway wants to be told of by a server that it shares: the server is told the wishes of all, and each is told its own. */
export class GuestWishes {
  readonly #id: string;
  /** In the words of the older protocol, one by one. */
  readonly #subscribed = new Set<string>();
  /** In the words of the modern one, by the request that goes on for as long as they hold. */
  readonly #listening = new Map<number, readonly string[]>();

  constructor(id: string) {
    this.#id = id;
  }

  has(watched: string | undefined): boolean {
    return watched !== undefined && this.#all().has(watched);
  }

  /** The answer where the request is a wish; undefined where the server itself has to answer. */
  take({ id, method, params }: Wish, how: How): Promise<JsonObject> | undefined {
    const { uri, level, notifications } = params;
    switch (method) {
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        if (typeof uri !== 'string') return undefined;
        if (method === 'resources/subscribe') this.#subscribed.add(uri);
        else this.#subscribed.delete(uri);
        return this.#renew(how).then(() => ({}));
      case 'subscriptions/listen':
        return this.#listen(id, isJsonObject(notifications) ? notifications : {}, how);
      case 'logging/setLevel':
        if (typeof level === 'string') how.upstream.wantLogs(level);
        return Promise.resolve({});
      default:
        return undefined;
    }
  }

  forget(upstream: Upstream | undefined): void {
    if (this.#all().size === 0) return;
    this.#subscribed.clear();
    this.#listening.clear();
    // Best effort: an update that nobody waits for is dropped anyway.
    upstream?.subscribe(new Set(), new Cancellation(), undefined, this.#id).catch(() => {});
  }

  /** Goes on until it is given up. That lists change is told to all without being asked. */
  async #listen(id: number, notifications: JsonObject, how: How): Promise<JsonObject> {
    const { resourceSubscriptions, taskIds } = notifications;
    this.#listening.set(id, [...texts(resourceSubscriptions), ...texts(taskIds).map(watchedTask)]);
    const { cancellation, upstream } = how;
    try {
      await this.#renew(how);
      await new Promise((_, reject) => cancellation.onCancel(reject));
    } finally {
      this.#listening.delete(id);
      this.#renew({ upstream, cancellation: new Cancellation(), behind: undefined }).catch(() => {}); // As above.
    }
    return {};
  }

  #renew({ upstream, cancellation, behind }: How): Promise<void> {
    return upstream.subscribe(this.#all(), cancellation, behind, this.#id);
  }

  #all(): ReadonlySet<string> {
    return new Set([...this.#subscribed, ...[...this.#listening.values()].flat()]);
  }
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
