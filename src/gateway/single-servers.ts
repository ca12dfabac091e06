import type { Catalog } from '../catalog/catalog.ts';
import { findResource } from '../catalog/snapshot.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation } from '../core/lib/cancellation.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import { GatewayError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import type { Era, ServerFacts } from '../core/server-facts.ts';
import { taskKey } from '../core/subscription-keys.ts';
import type { Operation } from '../policy/guard.ts';
import type { UpstreamPool } from '../upstream/upstream-pool.ts';
import { UnlistedAccess } from './calls/unlisted-access.ts';
import type { CallRequest } from './calls/call-request.ts';
import { mustServerAnswer, canPassBetween } from './calls/pass-through.ts';
import {
  createCompletionOperation,
  lookupTool,
  createPromptOperation,
  assertToolNotHeld,
  resolveResource,
  unknownResourceError,
  createToolOperation,
  unknownEntryError,
} from './calls/resolve-operation.ts';
import type { PreGuardAudit } from './calls/pre-guard-audit.ts';
import type { HeldEntries } from './held-entries.ts';
import type { GatewayBackend, SingleServerBackend, TaskSubscriptions } from './backend.ts';
import type { CallerVisibility } from './caller-visibility.ts';
import type { ResourceSubscriptions } from './calls/resource-subscriptions.ts';
import { concernsTask, unknownTaskError } from './calls/task-routes.ts';
import type { TaskRoutes } from './calls/task-routes.ts';
import { diffLists, createCatalogView } from './catalog-view.ts';
import type { ChangedLists, CatalogView } from './catalog-view.ts';

interface SingleServersDeps extends Omit<SingleServerDeps, 'config' | 'listServer'> {
  readonly upstreams: ReadonlyMap<UpstreamName, UpstreamConfig>;
  readonly listServer: (name: UpstreamName, request: CallRequest) => Promise<void>;
}

/** Creates the backend of each single server when a client first asks for it. */
export class SingleServers {
  readonly #deps: SingleServersDeps;
  readonly #servers = new Map<UpstreamName, SingleServer>();

  constructor(deps: SingleServersDeps) {
    this.#deps = deps;
  }

  get(name: string): SingleServer | undefined {
    const config = this.#deps.upstreams.get(name as UpstreamName); // The cast is safe for a lookup.
    if (config === undefined) return undefined;
    const known = this.#servers.get(config.name);
    if (known !== undefined) return known;
    const { upstreams, listServer, ...deps } = this.#deps;
    const server = new SingleServer({
      ...deps,
      // After the server was removed, clients that are still connected to it use the configuration of the first `get`.
      get config() {
        return upstreams.get(config.name) ?? config;
      },
      listServer: (request) => listServer(config.name, request),
    });
    this.#servers.set(config.name, server);
    return server;
  }
}

interface SingleServerDeps {
  readonly config: UpstreamConfig;
  readonly catalog: Catalog;
  readonly pool: UpstreamPool;
  readonly subscriptions: ResourceSubscriptions;
  readonly tasks: TaskRoutes;
  /** Provides the functions that are the same for the whole gateway and for a single server. */
  readonly gateway: Pick<GatewayBackend, 'events' | 'declareClient' | 'requestLogLevel' | 'endSession'>;
  readonly visibility: CallerVisibility;
  readonly heldEntries: HeldEntries;
  readonly audit: PreGuardAudit;
  readonly hasSingleClient: boolean;
  readonly listWaitMs: () => number;
  /** Resolves when the lists of the server have been fetched; rejects with the reason if that fails. */
  readonly listServer: (request: CallRequest) => Promise<void>;
  /** Runs an operation through all guards. */
  readonly call: (caller: Caller, operation: Operation, request: CallRequest) => Promise<Payload>;
}

/** Serves one server by itself, with its own names, order and responses. */
class SingleServer implements SingleServerBackend {
  readonly kind = 'single-server';
  readonly events = new Emitter<{ changed: ChangedLists }>();
  readonly hasSingleClient: boolean;
  readonly #deps: SingleServerDeps;
  readonly #views = new WeakMap<Snapshot, CatalogView>();
  /** The view before the first listing. */
  readonly #unlisted: CatalogView;
  readonly #unlistedAccess: UnlistedAccess;
  /** The snapshot of the last announcement; changes are announced relative to it. */
  #announced: Snapshot | undefined;
  /** End of the wait for the first listing, in milliseconds since the start of the process. All clients share it. */
  #waitUntil: number | undefined;

  constructor(deps: SingleServerDeps) {
    this.#deps = deps;
    this.hasSingleClient = deps.hasSingleClient;
    this.#unlistedAccess = new UnlistedAccess(deps);
    this.#unlisted = createOwnView(undefined, deps.config);
    this.#announced = this.#snapshot;
    deps.gateway.events.on('changed', ({ isPolicyChange }) => this.#announce(isPolicyChange === true));
  }

  async waitForFacts(): Promise<ServerFacts | undefined> {
    // Without the gateway, the only client of a server would also wait until the server answers.
    if (this.hasSingleClient && this.#facts === undefined)
      await this.#waitForSnapshot({ params: {}, session: 'nobody', cancellation: new Cancellation() });
    await this.whenListed();
    // The only client reads the lists after this description, so the first listing is not announced to it as a change.
    if (this.hasSingleClient) this.#announced ??= this.#snapshot;
    return this.#facts;
  }

  whenListed(): Promise<void> {
    const { catalog, config, listWaitMs } = this.#deps;
    const now = performance.now();
    this.#waitUntil ??= now + listWaitMs();
    return catalog.settled([config.name], Math.max(0, this.#waitUntil - now));
  }

  view(caller: Caller): CatalogView {
    const snapshot = this.#deps.visibility.singleServerVisibleTo(caller, this.#deps.config.name);
    if (snapshot === undefined) return this.#unlisted;
    let view = this.#views.get(snapshot);
    if (view === undefined) this.#views.set(snapshot, (view = createOwnView(snapshot, this.#deps.config)));
    return view;
  }

  async callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('tool', 'tools/call', request);
    const operation = await this.#resolve(unlisted, caller, request, (snapshot) => {
      const entry = lookupTool(snapshot, name);
      if (entry !== undefined) return createToolOperation(entry, request.params);
      assertToolNotHeld(snapshot, name);
      if (!this.#unlistedAccess.canCall(caller, name))
        throw unknownEntryError('tool', name, snapshot.tools.keys());
      return unlisted;
    });
    return this.#deps.call(caller, operation, request);
  }

  async getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('prompt', 'prompts/get', request);
    const operation = await this.#resolve(unlisted, caller, request, (snapshot) => {
      const isListed = [...snapshot.prompts.keys()].some((known) => known === name);
      // If nothing is hidden or held, the server itself may reject an unknown name. Otherwise `createPromptOperation` throws.
      return isListed || !this.#unlistedAccess.isOpenTo(caller)
        ? createPromptOperation(snapshot, name, request.params)
        : unlisted;
    });
    return this.#deps.call(caller, operation, request);
  }

  /** Reads a resource. An unlisted URI is sent to the server as well, because the resource may exist and only this server can have it. */
  async readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('resource', 'resources/read', request);
    const operation = await this.#resolve(unlisted, caller, request, (snapshot) => {
      const entry = findResource(snapshot, uri)?.entry;
      if (entry !== undefined) return { ...unlisted, entry };
      // For a restricted caller, `resolveResource` throws, because no rule can decide about an unlisted resource.
      if (!this.#deps.visibility.policyFor(caller).isUnrestricted) resolveResource(snapshot, uri);
      return unlisted;
    });
    return this.#deps.call(caller, operation, request);
  }

  async complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('completion', 'completion/complete', request);
    const operation = await this.#resolve(unlisted, caller, request, (snapshot) => {
      try {
        return createCompletionOperation(snapshot, ref, request.params);
      } catch (error) {
        // Prompts may be held for approval, but templates never are. An unlisted template is therefore forwarded for every
        // unrestricted caller, and the server itself rejects it.
        const isForwarded =
          ref['type'] === 'ref/prompt'
            ? this.#unlistedAccess.isOpenTo(caller)
            : this.#deps.visibility.policyFor(caller).isUnrestricted;
        if (!(error instanceof GatewayError) || !isForwarded) throw error;
        return unlisted;
      }
    });
    return this.#deps.call(caller, operation, request);
  }

  canForward(method: string, era: Era): boolean {
    return canPassBetween(method, era, this.#facts?.era ?? era);
  }

  mustForward(method: string, params: JsonObject, era: Era): boolean {
    return this.#facts !== undefined && mustServerAnswer(method, params, { era, facts: this.#facts });
  }

  /** Sends a method that the gateway does not know to the server unchanged. */
  async forward(caller: Caller, method: string, request: CallRequest): Promise<Payload> {
    const { config, tasks } = this.#deps;
    const { params } = request;
    const unlisted = this.#unlistedOperation('other', method, request);
    const operation = await this.#resolve(unlisted, caller, request, async () => {
      const { taskId } = params;
      if (concernsTask(method) && !(await tasks.filterUsable(caller, config.name, [taskId])).has(taskId))
        throw unknownTaskError();
      this.#unlistedAccess.assertForwardable(caller, method, params);
      return unlisted;
    });
    const result = await this.#deps.call(caller, operation, request);
    this.#unlistedAccess.assertResultAllowed(caller, method);
    return method === 'tasks/list' && !this.hasSingleClient
      ? tasks.removeTasksOfOthers(caller, config.name, result)
      : result;
  }

  notify(method: string, params: JsonObject | undefined): void {
    const { pool, config } = this.#deps;
    if (this.#facts?.era === 'modern') return;
    // Several clients may share this connection. The roots of one client do not concern the others, and if each caller signs in
    // separately, this connection belongs to none of them.
    const isPrivate = method === 'notifications/roots/list_changed' || config.auth?.per === 'caller';
    if (!this.hasSingleClient && isPrivate) return;
    pool
      .get(config.name)
      ?.getConnection(new Cancellation())
      .then((connection) => connection.notify(method, params))
      .catch(() => {}); // A notification has no response; the status of the server shows the problem.
  }

  attach(client: RequestingClient): Disposable {
    return this.#deps.pool.attach(this.#deps.config.name, client);
  }

  subscribe(
    ...[caller, uri, onUpdate, requestingClient]: Parameters<SingleServerBackend['subscribe']>
  ): Promise<Disposable> {
    const { config, pool, subscriptions, audit, visibility } = this.#deps;
    const find = (): { readonly upstream: UpstreamName; readonly uri: string } => {
      if (!visibility.policyFor(caller).isUnrestricted) {
        const snapshot = visibility.singleServerVisibleTo(caller, config.name);
        if (snapshot === undefined || findResource(snapshot, uri) === undefined)
          throw unknownResourceError(uri);
      }
      return { upstream: config.name, uri };
    };
    return audit.subscribe(caller, uri, find, () =>
      subscriptions.add(pool.signInFor(config.name, caller), uri, onUpdate, requestingClient),
    );
  }

  async watchTasks(
    ...[caller, ids, onUpdate]: Parameters<SingleServerBackend['watchTasks']>
  ): Promise<TaskSubscriptions> {
    const { config, pool, subscriptions, tasks } = this.#deps;
    const watched = new Map<string, Promise<Disposable>>();
    if (this.#facts?.era !== 'modern') return watched;
    const usable = await tasks.filterUsable(caller, config.name, ids);
    for (const id of ids)
      if (usable.has(id))
        watched.set(id, subscriptions.add(pool.signInFor(config.name, caller), taskKey(id), onUpdate));
    return watched;
  }

  declareClient(capabilities: JsonObject): void {
    this.#deps.gateway.declareClient(capabilities);
  }

  requestLogLevel(level: string): void {
    this.#deps.gateway.requestLogLevel(level);
  }

  endSession(session: string): void {
    this.#deps.gateway.endSession(session);
  }

  get #snapshot(): Snapshot | undefined {
    return this.#deps.catalog.singleServer(this.#deps.config.name);
  }

  get #facts(): ServerFacts | undefined {
    return this.#snapshot?.upstreams.get(this.#deps.config.name)?.facts;
  }

  /** Returns an operation without an entry, which sends the parameters to the server unchanged. */
  #unlistedOperation(kind: Operation['kind'], method: string, { params }: CallRequest): Operation {
    return { kind, upstream: this.#deps.config.name, method, params };
  }

  /** Runs `find` on the entries that the caller may see. If it throws, the request is recorded in the audit log. */
  #resolve(
    unlisted: Operation,
    caller: Caller,
    request: CallRequest,
    find: (snapshot: Snapshot) => Operation | Promise<Operation>,
  ): Promise<Operation> {
    return this.#deps.audit.lookUp(unlisted, caller, request, async () =>
      find(await this.#visibleSnapshot(caller, request)),
    );
  }

  async #visibleSnapshot(caller: Caller, request: CallRequest): Promise<Snapshot> {
    const unfiltered = await this.#waitForSnapshot(request);
    await this.#deps.heldEntries.whenRelisted(this.#deps.config.name, request.cancellation);
    return this.#deps.visibility.singleServerVisibleTo(caller, this.#deps.config.name) ?? unfiltered;
  }

  async #waitForSnapshot(request: CallRequest): Promise<Snapshot> {
    if (this.#snapshot === undefined) await this.#deps.listServer(request);
    const snapshot = this.#snapshot;
    if (snapshot !== undefined) return snapshot;
    const { name } = this.#deps.config;
    throw new GatewayError(
      'UPSTREAM_UNAVAILABLE',
      `The lists of server "${name}" could not be fetched. Run \`trunkline status\` to see why.`,
    );
  }

  /** Emits the lists that differ from the last announcement. If they cannot be compared, all lists that the server has count as changed. */
  #announce(isPolicyChange: boolean): void {
    const [before, after] = [this.#announced, this.#snapshot];
    this.#announced = after;
    if (after === undefined && before === undefined) return;
    const changed =
      before === undefined || after === undefined || isPolicyChange
        ? offeredLists((after ?? before)?.upstreams.get(this.#deps.config.name)?.facts)
        : diffLists(before, after);
    if (changed.tools || changed.prompts || changed.resources) this.events.emit('changed', changed);
  }
}

/** Creates the view of a client that has chosen this server, so the tools of the server may ask the client to always load them. */
function createOwnView(snapshot: Snapshot | undefined, config: UpstreamConfig): CatalogView {
  return { ...createCatalogView(snapshot, [config]), mayAlwaysLoad: () => true };
}

/** Returns the lists that the server offers according to its capabilities. While these are unknown, it may offer all lists. */
function offeredLists(facts: ServerFacts | undefined): ChangedLists {
  const has = (kind: string): boolean => facts === undefined || kind in facts.capabilities;
  return { tools: has('tools'), prompts: has('prompts'), resources: has('resources') };
}
