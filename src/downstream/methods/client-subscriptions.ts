import type { Backend, TaskSubscriptions } from '../../gateway/backend.ts';
import type { ChangedLists, CatalogView } from '../../gateway/catalog-view.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { Caller } from '../../core/caller.ts';
import type { RequestingClient } from '../../core/requesting-client.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { readClientName } from '../../protocol/envelope.ts';
import { META_KEYS } from '../../protocol/era.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

type Digests = Readonly<Record<keyof CatalogView['digests'], string>>;

/** The maximum number of resources per session, and of resources and of tasks per `subscriptions/listen` request. */
const MAX_SUBSCRIPTIONS = 1000;

/** The notifications of `subscriptions/listen` that announce changes of lists. */
const LIST_NOTIFICATIONS: readonly (readonly [keyof Digests, string, string])[] = [
  ['tools', 'toolsListChanged', 'notifications/tools/list_changed'],
  ['prompts', 'promptsListChanged', 'notifications/prompts/list_changed'],
  ['resources', 'resourcesListChanged', 'notifications/resources/list_changed'],
];

const NO_TASKS: TaskSubscriptions = new Map();

/** Manages the subscriptions of one client: to changes of lists, to resources, and through `subscriptions/listen` requests. */
export class ClientSubscriptions {
  readonly #backend: Backend;
  readonly #caller: Caller;
  readonly #resources = new Map<string, Promise<Disposable>>();
  /** Functions that end the open `subscriptions/listen` requests. */
  readonly #listens = new Set<() => void>();
  /** Returns one digest per list, which stays the same while a client of this name sees the same entries. */
  readonly #digests: (clientName: string | undefined) => Digests;
  #listChanges: Disposable | undefined;
  #isClosed = false;

  constructor(
    backend: Backend,
    caller: Caller,
    digests: (clientName: string | undefined) => Digests = () => backend.view(caller).digests,
  ) {
    this.#backend = backend;
    this.#caller = caller;
    this.#digests = digests;
  }

  onListsChanged(listener: (changed: ChangedLists) => void): void {
    this.#listChanges ??= this.#backend.events.on('changed', listener);
  }

  async subscribe(
    uri: string,
    onUpdate: (params: JsonObject) => void,
    requestingClient?: RequestingClient,
  ): Promise<void> {
    if (this.#resources.has(uri)) return;
    if (this.#resources.size >= MAX_SUBSCRIPTIONS)
      throw new GatewayError(
        'RATE_LIMITED',
        `This session is subscribed to ${MAX_SUBSCRIPTIONS} resources, which is the limit. Unsubscribe from some of them first.`,
      );
    const subscription = this.#backend.subscribe(this.#caller, uri, onUpdate, requestingClient);
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
    // A failure is ignored, because `subscribe` has already reported it.
    subscription?.then((disposable) => disposable[Symbol.dispose]()).catch(() => {});
  }

  /** Handles `subscriptions/listen`, which stays open until the client cancels it or the gateway stops. */
  listen(request: IncomingRequest): Promise<undefined> | undefined {
    const { notifications } = request.params ?? {};
    const filter = isJsonObject(notifications) ? notifications : {};
    const taskIds = [...new Set(readStrings(filter['taskIds']))];
    if (taskIds.length > 0) return this.#listenToTasks(request, filter, taskIds);
    this.#openListen(request, filter, NO_TASKS);
    return undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#listChanges?.[Symbol.dispose]();
    for (const uri of [...this.#resources.keys()]) this.unsubscribe(uri);
    for (const finish of [...this.#listens]) finish();
  }

  /** Opens a listen request with tasks, after the backend has determined which tasks the caller may use. */
  async #listenToTasks(
    request: IncomingRequest,
    filter: JsonObject,
    taskIds: readonly string[],
  ): Promise<undefined> {
    const onUpdate = (params: JsonObject): void => {
      const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
      const _meta = { ...meta, [META_KEYS.subscriptionId]: request.id };
      request.notify('notifications/tasks', { ...params, _meta });
    };
    const tasks = await this.#backend.watchTasks(this.#caller, taskIds, onUpdate);
    this.#openListen(request, filter, tasks);
  }

  #openListen(request: IncomingRequest, filter: JsonObject, tasks: TaskSubscriptions): void {
    const tag = { _meta: { [META_KEYS.subscriptionId]: request.id } };
    const { accepted, uris } = acceptFilter(filter, [...tasks.keys()]);
    request.notify('notifications/subscriptions/acknowledged', { notifications: accepted, ...tag });
    const open = [this.#notifyListChanges(request, accepted, tag)];
    for (const subscription of [...tasks.values(), ...this.#subscribeAll(request, uris, tag)])
      subscription.then(
        // `open` is empty only after the request has ended; a subscription that completes later is disposed at once.
        (disposable) => (open.length === 0 ? disposable[Symbol.dispose]() : open.push(disposable)),
        () => {}, // The resource may appear later, and the client was not promised that it exists.
      );
    const end = (): void => {
      this.#listens.delete(finish);
      for (const disposable of open.splice(0)) disposable[Symbol.dispose]();
    };
    const finish = (): void => {
      end();
      request.sendResult(Payload.of({ resultType: 'complete', ...tag }));
    };
    this.#listens.add(finish);
    request.cancellation.onCancel(end);
    // The session can have ended while the tasks were looked up.
    if (this.#isClosed && this.#listens.has(finish)) finish();
  }

  #notifyListChanges(request: IncomingRequest, accepted: JsonObject, tag: JsonObject): Disposable {
    const clientName = readClientName(request.params ?? {});
    let digests = this.#digests(clientName);
    return this.#backend.events.on('changed', () => {
      const before = digests;
      digests = this.#digests(clientName);
      // A client must not learn of changes that only others can see.
      for (const [list, key, method] of LIST_NOTIFICATIONS)
        if (before[list] !== digests[list] && accepted[key] === true) request.notify(method, tag);
    });
  }

  #subscribeAll(
    request: IncomingRequest,
    uris: readonly string[],
    tag: JsonObject,
  ): readonly Promise<Disposable>[] {
    if (uris.length === 0) return [];
    // The server of a resource is known only after all listings have been fetched.
    const listed = this.#backend.whenListed();
    return uris.map((uri) => {
      const onUpdate = (): void => request.notify('notifications/resources/updated', { uri, ...tag });
      return listed.then(() => this.#backend.subscribe(this.#caller, uri, onUpdate));
    });
  }
}

/** Reads the filter of `subscriptions/listen`; `accepted` is the part that the client will be notified about. */
function acceptFilter(
  filter: JsonObject,
  taskIds: readonly string[],
): { readonly accepted: JsonObject; readonly uris: readonly string[] } {
  const accepted: Record<string, unknown> = {};
  for (const [, key] of LIST_NOTIFICATIONS) if (filter[key] === true) accepted[key] = true;
  const uris = readStrings(filter['resourceSubscriptions']);
  if (uris.length > 0) accepted['resourceSubscriptions'] = uris;
  if (taskIds.length > 0) accepted['taskIds'] = taskIds;
  return { accepted, uris };
}

function readStrings(value: unknown): readonly string[] {
  const strings = Array.isArray(value)
    ? value.filter((each): each is string => typeof each === 'string')
    : [];
  return strings.slice(0, MAX_SUBSCRIPTIONS);
}
