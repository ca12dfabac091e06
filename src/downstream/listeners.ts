import type { Served } from '../gateway/served.ts';
import type { ChangedLists, View } from '../gateway/view.ts';
import { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { clientNameOf } from '../wire/envelope.ts';
import { META } from '../wire/era.ts';
import type { IncomingRequest } from '../wire/serving.ts';

type Digests = Readonly<Record<keyof View['digests'], string>>;

/** What one client has asked to be told about. */
export class Listeners {
  readonly #gateway: Served;
  readonly #caller: Caller;
  readonly #resources = new Map<string, Promise<Disposable>>();
  readonly #listens = new Set<() => void>();
  /** One per list, equal while a client of this name sees the same. */
  readonly #digests: (client: string | undefined) => Digests;
  #changes: Disposable | undefined;
  #isClosed = false;

  constructor(
    gateway: Served,
    caller: Caller,
    digests: (client: string | undefined) => Digests = () => gateway.view(caller).digests,
  ) {
    this.#gateway = gateway;
    this.#caller = caller;
    this.#digests = digests;
  }

  announceChanges(announce: (changed: ChangedLists) => void): void {
    this.#changes ??= this.#gateway.events.on('changed', announce);
  }

  async subscribe(uri: string, onUpdate: (params: JsonObject) => void, behind?: ClientBehind): Promise<void> {
    if (this.#resources.has(uri)) return;
    if (this.#resources.size >= MAX_RESOURCES)
      throw new GatewayError('RATE_LIMITED', 'You follow too many resources; unsubscribe from some first.');
    const subscription = this.#gateway.subscribe(this.#caller, uri, onUpdate, behind);
    this.#resources.set(uri, subscription);
    try {
      await subscription;
    } catch (error) {
      this.#resources.delete(uri);
      throw error;
    }
    if (this.#isClosed) this.unsubscribe(uri);
  }

  unsubscribe(uri: string): void {
    const subscription = this.#resources.get(uri);
    this.#resources.delete(uri);
    // A subscription that failed has told its own caller.
    subscription?.then((disposable) => disposable[Symbol.dispose]()).catch(() => {});
  }

  /** `subscriptions/listen`: stays open until the client cancels it or we stop. */
  listen(request: IncomingRequest): void {
    const wanted = request.params?.['notifications'];
    const filter = isJsonObject(wanted) ? wanted : {};
    const tag = { _meta: { [META.subscriptionId]: request.id } };
    const open: Disposable[] = [];
    const honoured: Record<string, unknown> = {};
    for (const key of ['toolsListChanged', 'promptsListChanged', 'resourcesListChanged']) {
      if (filter[key] === true) honoured[key] = true;
    }
    const uris = Array.isArray(filter['resourceSubscriptions']) ? filter['resourceSubscriptions'] : [];
    const known = uris.filter((uri): uri is string => typeof uri === 'string').slice(0, MAX_RESOURCES);
    if (known.length > 0) honoured['resourceSubscriptions'] = known;
    const tasks = this.#watchTasks(request, filter['taskIds']);
    if (tasks.ids.length > 0) honoured['taskIds'] = tasks.ids;
    request.notify('notifications/subscriptions/acknowledged', { notifications: honoured, ...tag });
    const client = clientNameOf(request.params ?? {});
    let digests = this.#digests(client);
    open.push(
      this.#gateway.events.on('changed', () => {
        const before = digests;
        digests = this.#digests(client);
        // What changes for others alone must not even be guessed here.
        tellChanges(request, honoured, differing(before, digests), tag);
      }),
    );
    const subscribed = [...tasks.watched];
    // Whose resources they are may not be known yet.
    const settled = known.length === 0 ? Promise.resolve() : this.#gateway.settled();
    for (const uri of known) {
      const tell = (): void => request.notify('notifications/resources/updated', { uri, ...tag });
      subscribed.push(settled.then(() => this.#gateway.subscribe(this.#caller, uri, tell)));
    }
    for (const one of subscribed)
      one.then(
        (subscription) => (open.length === 0 ? subscription[Symbol.dispose]() : open.push(subscription)),
        () => {}, // The resource may come later; the client was promised updates, not existence.
      );
    const end = (): void => {
      this.#listens.delete(finish);
      for (const subscription of open.splice(0)) subscription[Symbol.dispose]();
    };
    const finish = (): void => {
      end();
      request.result(Payload.of({ resultType: 'complete', ...tag }));
    };
    this.#listens.add(finish);
    request.cancellation.onCancel(end);
  }

  /** Those of the tasks that it may follow. */
  #watchTasks(
    request: IncomingRequest,
    wanted: unknown,
  ): { readonly ids: readonly string[]; readonly watched: readonly Promise<Disposable>[] } {
    const tell = (params: JsonObject): void => {
      const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
      const _meta = { ...meta, [META.subscriptionId]: request.id };
      request.notify('notifications/tasks', { ...params, _meta });
    };
    const [ids, watched]: [string[], Promise<Disposable>[]] = [[], []];
    for (const id of Array.isArray(wanted) ? new Set<unknown>(wanted.slice(0, MAX_RESOURCES)) : []) {
      if (typeof id !== 'string') continue;
      const subscription = this.#gateway.watchTask(this.#caller, id, tell);
      if (subscription === undefined) continue;
      ids.push(id);
      watched.push(subscription);
    }
    return { ids, watched };
  }

  close(): void {
    this.#isClosed = true;
    this.#changes?.[Symbol.dispose]();
    for (const uri of [...this.#resources.keys()]) this.unsubscribe(uri);
    for (const finish of [...this.#listens]) finish();
  }
}

const MAX_RESOURCES = 1000;

function differing(before: Digests, now: Digests): ChangedLists {
  return {
    tools: before.tools !== now.tools,
    prompts: before.prompts !== now.prompts,
    resources: before.resources !== now.resources,
  };
}

function tellChanges(
  request: IncomingRequest,
  honoured: JsonObject,
  changed: ChangedLists,
  tag: JsonObject,
): void {
  if (changed.tools && honoured['toolsListChanged'] === true)
    request.notify('notifications/tools/list_changed', tag);
  if (changed.prompts && honoured['promptsListChanged'] === true)
    request.notify('notifications/prompts/list_changed', tag);
  if (changed.resources && honoured['resourcesListChanged'] === true)
    request.notify('notifications/resources/list_changed', tag);
}
