import type { Others } from '../../downstream/sessions/between/others.ts';
import type { SubscribedElsewhere, Subscriptions } from '../../gateway/calls/subscriptions.ts';
import type { UpstreamName } from '../../model/ids.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { SignedIn } from '../../upstream/sharing/pool.ts';

interface Follower {
  readonly at: SignedIn;
  readonly uris: Map<string, Promise<Disposable | undefined>>;
}

/** A process may have to be started first; whoever subscribes does not wait longer for it. */
const PATIENCE_MS = 2000;
const MAX_URIS = 1000;

/**
 * Where each gateway runs a process of its own of a server, only the process that was called may know what changed. So each gateway
 * follows for the others what they follow, and tells them.
 */
export class MirroredSubscriptions implements SubscribedElsewhere, Disposable {
  readonly #others: Others;
  readonly #isOwnProcess: (name: UpstreamName) => boolean;
  /** What somebody here listens to. */
  readonly #wanted = new Map<string, { readonly at: SignedIn; readonly uris: readonly string[] }>();
  /** What other gateways listen to, by gateway and server. */
  readonly #followers = new Map<string, Map<string, Follower>>();
  readonly #telling = new Map<string, Promise<void>>();
  readonly #open: Disposable[];
  #known: ReadonlySet<string> = new Set();
  #subscriptions: Subscriptions | undefined;

  constructor(options: {
    readonly others: Others;
    readonly onChange: (listener: () => void) => Disposable;
    readonly isOwnProcess: (name: UpstreamName) => boolean;
  }) {
    const { others } = options;
    this.#others = others;
    this.#isOwnProcess = options.isOwnProcess;
    this.#open = [
      options.onChange(() => this.#changed()),
      others.answer('resources.follow', (body, { from }) => this.#follow(body, from)),
      others.answer('resources.updated', async (body) => {
        const at = placeOf(body);
        if (at !== undefined && isJsonObject(body['params']))
          this.#subscriptions?.updated(at, body['params'], { isForeign: true });
        return {};
      }),
    ];
  }

  serve(subscriptions: Subscriptions): void {
    this.#subscriptions = subscriptions;
  }

  async wanted(at: SignedIn, uris: readonly string[]): Promise<void> {
    if (!this.#isOwnProcess(at.name)) return;
    if (uris.length === 0) this.#wanted.delete(keyOf(at));
    else this.#wanted.set(keyOf(at), { at, uris: uris.slice(0, MAX_URIS) });
    await Promise.all(this.#others.all().map((other) => this.#tell(other, at)));
  }

  [Symbol.dispose](): void {
    for (const one of this.#open) one[Symbol.dispose]();
    for (const from of [...this.#followers.keys()]) this.#forget(from);
  }

  /** Who is new is told everything; for who is gone nothing is followed any more. */
  #changed(): void {
    const all = new Set(this.#others.all());
    for (const other of all)
      if (!this.#known.has(other)) for (const { at } of this.#wanted.values()) void this.#tell(other, at);
    this.#known = all;
    for (const from of [...this.#followers.keys()]) if (!all.has(from)) this.#forget(from);
  }

  /** The latest, one after the other, so that it is also the last that the other one hears. */
  #tell(other: string, at: SignedIn): Promise<void> {
    const before = this.#telling.get(other) ?? Promise.resolve();
    const told = before.then(async () => {
      const uris = this.#wanted.get(keyOf(at))?.uris ?? [];
      const body = { ...at, uris };
      // Best effort: who is away is told when it is back, since it is another one then.
      await this.#others.ask(other, 'resources.follow', body, { timeoutMs: PATIENCE_MS }).catch(() => {});
      if (this.#telling.get(other) === told) this.#telling.delete(other);
    });
    this.#telling.set(other, told);
    return told;
  }

  async #follow(body: JsonObject, from: string): Promise<JsonObject> {
    const at = placeOf(body);
    const { uris } = body;
    if (at === undefined || !Array.isArray(uris) || !this.#isOwnProcess(at.name)) return {};
    const wanted = new Set(uris.filter((uri): uri is string => typeof uri === 'string').slice(0, MAX_URIS));
    const places = this.#followers.get(from) ?? new Map<string, Follower>();
    this.#followers.set(from, places);
    const follower: Follower = places.get(keyOf(at)) ?? { at, uris: new Map() };
    places.set(keyOf(at), follower);
    for (const [uri, following] of follower.uris) {
      if (wanted.has(uri)) continue;
      follower.uris.delete(uri);
      end(following);
    }
    for (const uri of wanted) {
      if (follower.uris.has(uri)) continue;
      const tell = (params: JsonObject): void => {
        const news = { ...at, params };
        this.#others.ask(from, 'resources.updated', news, { timeoutMs: PATIENCE_MS }).catch(() => {}); // It is gone, and who listened with it.
      };
      const following = this.#subscriptions?.add(at, uri, tell, undefined, { isForeign: true });
      // The process here may not have it; that of the other gateway does.
      if (following !== undefined)
        follower.uris.set(
          uri,
          following.catch(() => undefined),
        );
    }
    return {};
  }

  #forget(from: string): void {
    const places = this.#followers.get(from);
    this.#followers.delete(from);
    for (const { uris } of places?.values() ?? []) for (const following of uris.values()) end(following);
  }
}

function end(following: Promise<Disposable | undefined>): void {
  void following.then((disposable) => disposable?.[Symbol.dispose]());
}

function placeOf({ name, signedInAs }: JsonObject): SignedIn | undefined {
  if (typeof name !== 'string' || typeof signedInAs !== 'string') return undefined;
  return { name: name as UpstreamName, signedInAs }; // Names of servers are the same everywhere.
}

function keyOf({ name, signedInAs }: SignedIn): string {
  return JSON.stringify([name, signedInAs]);
}
