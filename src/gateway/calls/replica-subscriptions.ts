import type { UpstreamName } from '../../core/ids.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { ReplicaBus } from '../../core/replica-bus.ts';
import type { UpstreamSignIn } from '../../upstream/upstream-pool.ts';
import type { SubscriptionSync, ResourceSubscriptions } from './resource-subscriptions.ts';

interface ReplicaSubscriptionsOptions {
  readonly replicas: ReplicaBus;
  readonly onReplicasChanged: (listener: () => void) => Disposable;
  /** Whether each replica runs its own process of this server. */
  readonly hasOwnProcess: (name: UpstreamName) => boolean;
}

/** Subscriptions on behalf of another replica, by URI. A promise resolves to undefined if the subscription failed. */
type RemoteSubscriptions = Map<string, Promise<Disposable | undefined>>;

/** Timeout of a request to another replica, which may have to start a process first. A new subscriber waits for the response. */
const TIMEOUT_MS = 2000;
/** Maximum number of URIs per server, sign-in and replica; further URIs are not exchanged. */
const MAX_URIS = 1000;

/**
 * Exchanges resource subscriptions between replicas. If each replica runs its own process of a server, a change may be noticed only by
 * the process that caused it. Each replica therefore announces the resources of its clients to all other replicas. These subscribe at
 * their own processes and report updates back.
 */
export class ReplicaSubscriptions implements SubscriptionSync, Disposable {
  readonly #replicas: ReplicaBus;
  readonly #hasOwnProcess: (name: UpstreamName) => boolean;
  /** The resources that clients of this replica are subscribed to, by server and sign-in. */
  readonly #local = new Map<string, { readonly at: UpstreamSignIn; readonly uris: readonly string[] }>();
  /** The resources that clients of other replicas are subscribed to, by replica, then by server and sign-in. */
  readonly #remote = new Map<string, Map<string, RemoteSubscriptions>>();
  /** The last announcement to each replica; it is removed when it has ended. */
  readonly #announcing = new Map<string, Promise<void>>();
  readonly #handlers: readonly Disposable[];
  /** The other replicas at the last change, to detect new ones. */
  #known: ReadonlySet<string> = new Set();
  #subscriptions: ResourceSubscriptions | undefined;

  constructor({ replicas, onReplicasChanged, hasOwnProcess }: ReplicaSubscriptionsOptions) {
    this.#replicas = replicas;
    this.#hasOwnProcess = hasOwnProcess;
    this.#handlers = [
      onReplicasChanged(() => this.#onReplicasChanged()),
      replicas.onRequest('resources.follow', (body, { from }) => this.#subscribeFor(from, body)),
      replicas.onRequest('resources.updated', async (body) => {
        const at = parseSignIn(body);
        if (at !== undefined && isJsonObject(body['params']))
          this.#subscriptions?.notify(at, body['params'], { isRemote: true });
        return {};
      }),
    ];
  }

  connect(subscriptions: ResourceSubscriptions): void {
    this.#subscriptions = subscriptions;
  }

  async announce(at: UpstreamSignIn, uris: readonly string[]): Promise<void> {
    if (!this.#hasOwnProcess(at.name)) return;
    if (uris.length === 0) this.#local.delete(keyOf(at));
    else this.#local.set(keyOf(at), { at, uris: uris.slice(0, MAX_URIS) });
    await Promise.all(this.#replicas.others().map((replica) => this.#announce(replica, at)));
  }

  [Symbol.dispose](): void {
    for (const handler of this.#handlers) handler[Symbol.dispose]();
    for (const replica of [...this.#remote.keys()]) this.#unsubscribeFor(replica);
  }

  /** Announces all subscriptions to a new replica, and ends those of a replica that has stopped. */
  #onReplicasChanged(): void {
    const running = new Set(this.#replicas.others());
    for (const replica of running)
      if (!this.#known.has(replica))
        for (const { at } of this.#local.values()) void this.#announce(replica, at);
    this.#known = running;
    for (const replica of [...this.#remote.keys()]) if (!running.has(replica)) this.#unsubscribeFor(replica);
  }

  /** Sends the current URIs to a replica. Announcements to one replica are sent one after the other, so the newest arrives last. */
  #announce(replica: string, at: UpstreamSignIn): Promise<void> {
    const previous = this.#announcing.get(replica) ?? Promise.resolve();
    const announced = previous.then(async () => {
      const uris = this.#local.get(keyOf(at))?.uris ?? [];
      const body = { name: at.name, signedInAs: at.signedInAs, uris };
      // Errors are ignored: a replica that has stopped returns with a new id, and then receives all announcements as a new replica.
      await this.#replicas
        .request(replica, 'resources.follow', body, { timeoutMs: TIMEOUT_MS })
        .catch(() => {});
      if (this.#announcing.get(replica) === announced) this.#announcing.delete(replica);
    });
    this.#announcing.set(replica, announced);
    return announced;
  }

  /** Replaces the subscriptions on behalf of a replica, for one server and sign-in, by the announced URIs. */
  async #subscribeFor(replica: string, body: JsonObject): Promise<JsonObject> {
    const at = parseSignIn(body);
    const { uris } = body;
    if (at === undefined || !Array.isArray(uris) || !this.#hasOwnProcess(at.name)) return {};
    const wanted = new Set(uris.filter((uri): uri is string => typeof uri === 'string').slice(0, MAX_URIS));
    const subscriptions = this.#remoteSubscriptions(replica, at);
    for (const [uri, subscription] of subscriptions) {
      if (wanted.has(uri)) continue;
      subscriptions.delete(uri);
      dispose(subscription);
    }
    for (const uri of wanted) {
      if (subscriptions.has(uri)) continue;
      const report = (params: JsonObject): void => {
        const update = { name: at.name, signedInAs: at.signedInAs, params };
        this.#replicas
          .request(replica, 'resources.updated', update, { timeoutMs: TIMEOUT_MS })
          .catch(() => {}); // The replica has stopped, and with it the connections of its clients.
      };
      const subscription = this.#subscriptions?.add(at, uri, report, undefined, { isRemote: true });
      // The process of this replica may not have the resource, although the process of the other replica has it.
      const settled = subscription?.catch(() => undefined);
      if (settled !== undefined) subscriptions.set(uri, settled);
    }
    return {};
  }

  #remoteSubscriptions(replica: string, at: UpstreamSignIn): RemoteSubscriptions {
    const servers = this.#remote.get(replica) ?? new Map<string, RemoteSubscriptions>();
    this.#remote.set(replica, servers);
    const subscriptions: RemoteSubscriptions = servers.get(keyOf(at)) ?? new Map();
    servers.set(keyOf(at), subscriptions);
    return subscriptions;
  }

  #unsubscribeFor(replica: string): void {
    const servers = this.#remote.get(replica);
    this.#remote.delete(replica);
    for (const subscriptions of servers?.values() ?? [])
      for (const subscription of subscriptions.values()) dispose(subscription);
  }
}

function dispose(subscription: Promise<Disposable | undefined>): void {
  void subscription.then((disposable) => disposable?.[Symbol.dispose]());
}

function parseSignIn({ name, signedInAs }: JsonObject): UpstreamSignIn | undefined {
  if (typeof name !== 'string' || typeof signedInAs !== 'string') return undefined;
  return { name: name as UpstreamName, signedInAs }; // Server names are the same at all replicas.
}

function keyOf({ name, signedInAs }: UpstreamSignIn): string {
  return JSON.stringify([name, signedInAs]);
}
