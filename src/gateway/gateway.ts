import { findResource } from '../catalog/snapshot.ts';
import type { ResourceRoute } from '../catalog/snapshot.ts';
import type { ConfigDiff } from '../config/reload/diff-config.ts';
import type { ConfigState } from '../config/reload/config-state.ts';
import type { Caller } from '../core/caller.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { Deadlines } from '../core/lib/deadlines.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Payload } from '../core/lib/payload.ts';
import { taskKey } from '../core/subscription-keys.ts';
import { HeldCalls } from '../policy/call-approvals/held-calls.ts';
import type { Operation } from '../policy/guard.ts';
import { createDescriptionOverrides, createToolFilter } from '../policy/tool-settings.ts';
import { nameServerInInputRequests } from '../upstream/question-origin.ts';
import { ActiveConfig } from './active-config.ts';
import type { GatewayBackend, SingleServerBackend, TaskSubscriptions } from './backend.ts';
import { CallerVisibility } from './caller-visibility.ts';
import { CallPipeline } from './calls/call-pipeline.ts';
import type { LinkExposure } from './calls/call-pipeline.ts';
import type { CallRequest } from './calls/call-request.ts';
import { LOOKUP_TARGETS } from './calls/pre-guard-audit.ts';
import {
  createCompletionOperation,
  findLinkedEntry,
  lookupTool,
  createPromptOperation,
  createResourceOperation,
  createToolOperation,
  unknownResourceError,
} from './calls/resolve-operation.ts';
import { ResourceSubscriptions } from './calls/resource-subscriptions.ts';
import { TaskRoutes, isTaskMethod } from './calls/task-routes.ts';
import type { CatalogView, ChangedLists } from './catalog-view.ts';
import { ServerControl } from './control/server-control.ts';
import type { FailureMemory } from './failure-memory.ts';
import { unavailableReason } from './control/upstream-status.ts';
import type { UpstreamStatus } from './control/upstream-status.ts';
import type { ConfigUpdate, GatewayDeps } from './gateway-deps.ts';
import { HeldEntries } from './held-entries.ts';
import { ListChangeNotifier } from './listing/list-change-notifier.ts';
import { ListingScheduler } from './listing/listing-scheduler.ts';
import { ToolResolver } from './tool-resolver.ts';
import { SingleServers } from './single-servers.ts';
import { ToolSearch } from './tool-search.ts';

/** Settings that can change the lists of a caller while the catalog itself stays the same. */
const VISIBILITY_SETTINGS: ReadonlySet<ConfigDiff['settings'][number]> = new Set([
  'policy',
  'profiles',
  'expose',
  'results',
  'management',
  'readOnly',
]);

/** Tools and prompts may return links to any resource. */
const ANY_LINK: LinkExposure = {};

/**
 * Combines the pool of upstreams, the catalog and the policy. Every call of a client passes through it: a method here resolves the
 * operation, and the pipeline (calls/call-pipeline.ts) guards, sends and postprocesses it.
 */
export class Gateway implements GatewayBackend, AsyncDisposable {
  readonly kind = 'gateway';
  readonly events = new Emitter<{ changed: ChangedLists; config: ConfigState }>();
  readonly servers: ServerControl;
  readonly search: ToolSearch;
  readonly visibility: CallerVisibility;
  readonly heldEntries: HeldEntries;
  readonly heldCalls: HeldCalls;
  readonly #deps: GatewayDeps;
  readonly #activeConfig: ActiveConfig;
  readonly #listing: ListingScheduler;
  readonly #listChanges: ListChangeNotifier;
  readonly #subscriptions: ResourceSubscriptions;
  readonly #tasks: TaskRoutes;
  readonly #deadlines: Deadlines;
  readonly #pipeline: CallPipeline;
  readonly #unlistedTools: ToolResolver;
  readonly #singleServers: SingleServers;

  constructor(deps: GatewayDeps) {
    const { config, pool, catalog, approvals, now, log, listInTurn, subscriptionSync, failures } = deps;
    const activeConfig = new ActiveConfig(config);
    const { upstreams } = activeConfig;
    const refreshMs = (): number => activeConfig.config.startup.refreshMs;
    const listWaitMs = (): number => activeConfig.config.startup.listWaitMs;
    const listing = new ListingScheduler({
      pool,
      catalog,
      refreshMs,
      listWaitMs,
      now,
      log,
      listInTurn,
      failures,
    });
    const subscriptions = new ResourceSubscriptions((signIn) => pool.getFor(signIn), subscriptionSync);
    const servers = new ServerControl({ pool, catalog, listing, subscriptions, failures });
    const search = new ToolSearch({ ...deps, upstreams: config.upstreams, config: config.search });
    const visibility = new CallerVisibility({
      config,
      catalog,
      find: search.find,
      unavailableReason: (name) => unavailableReason(servers.statusOf(name)),
    });
    const heldEntries = new HeldEntries({ approvals, catalog, servers, listing, upstreams });
    const heldCalls = new HeldCalls(now);
    const tasks = new TaskRoutes({ store: deps.taskOwners, now, log });
    const deadlines = new Deadlines({ tickMs: 50, now: () => performance.now() });
    const callDeps = { ...deps, activeConfig, visibility, heldEntries, tasks, deadlines };
    const pipeline = new CallPipeline({ ...callDeps, heldCalls, search }, deps);
    const unlistedTools = new ToolResolver({ ...callDeps, listing });
    this.#deps = deps;
    this.#activeConfig = activeConfig;
    this.#listing = listing;
    this.#listChanges = new ListChangeNotifier(catalog, (changed) => this.events.emit('changed', changed));
    this.#subscriptions = subscriptions;
    this.#tasks = tasks;
    this.#deadlines = deadlines;
    this.#pipeline = pipeline;
    this.#unlistedTools = unlistedTools;
    this.#singleServers = new SingleServers({
      ...callDeps,
      upstreams,
      subscriptions,
      gateway: this,
      audit: pipeline.audit,
      hasSingleClient: deps.hasSingleClient === true,
      listWaitMs,
      listServer: (name, request) =>
        pipeline.inFlight.track(request.cancellation, unlistedTools.listServer(name, request)),
      call: (caller, operation, request) => pipeline.run(caller, operation, request),
    });
    this.servers = servers;
    this.search = search;
    this.visibility = visibility;
    this.heldEntries = heldEntries;
    this.heldCalls = heldCalls;
  }

  start(when?: 'at-once' | 'on-demand'): void {
    const { pool, catalog, failures } = this.#deps;
    if (failures !== undefined) followFailures(pool, failures);
    catalog.events.on('changed', ({ before }) => this.#listChanges.schedule(before));
    pool.events.on('update', (update) => this.#subscriptions.notify(update, update.params));
    this.#listing.start(when);
  }

  /** Applies another configuration to new calls. Running calls end under the configuration they started with. */
  async apply(update: ConfigUpdate): Promise<void> {
    const { pool, catalog } = this.#deps;
    const { snapshot, diff, callObserver, isTracing } = update;
    const config = snapshot.value;
    // There is no `await` before all parts have switched, so no call sees a mixture of two configurations.
    this.#activeConfig.replace(config);
    const customGuards = update.customGuards ?? this.#deps.customGuards;
    this.#pipeline.rebuildGuards({ callObserver, isTracing, customGuards });
    pool.apply(config.upstreams, { reopened: diff.reopened, graceMs: config.shutdownMs });
    this.visibility.apply(config);
    this.search.apply(config);
    catalog.apply(config.upstreams, {
      separator: config.names.separator,
      allows: createToolFilter(config.upstreams),
      describe: createDescriptionOverrides(config.upstreams),
    });
    for (const name of diff.left) {
      this.#subscriptions.forget(name);
      this.heldCalls.forget(name);
    }
    for (const name of diff.reopened) this.#subscriptions.resubscribe(name);
    if (diff.adjusted.length > 0 || diff.settings.some((setting) => VISIBILITY_SETTINGS.has(setting)))
      this.#listChanges.policyChanged();
    for (const name of diff.added) this.#listing.serverChanged(name, { isNew: true });
    for (const name of diff.reopened) this.#listing.serverChanged(name);
    await this.heldEntries.reassess(diff.adjusted);
    // A server in `left` may only be disabled and keeps its approvals. A server in `gone` is not in the file any more.
    await this.heldEntries.forget(diff.gone);
  }

  /** Connects servers anew whose references have other values now. Running calls finish on the old connections. */
  reopen(names: readonly UpstreamName[]): void {
    const { upstreams, shutdownMs } = this.#activeConfig.config;
    this.#deps.pool.apply(upstreams, { reopened: names, graceMs: shutdownMs });
    for (const name of names) {
      this.#subscriptions.resubscribe(name);
      this.#listing.serverChanged(name);
    }
  }

  /** Resolves when every listing has been fetched, or when the wait for the first listings ends. */
  whenListed(): Promise<void> {
    return this.#listing.whenListed();
  }

  /** Resolves when the first listing of every server since the start has succeeded or failed. */
  get firstListing(): Promise<void> {
    return this.#listing.firstRound;
  }

  /** Returns the catalog as the caller sees it. Returns the same object until something changes, so data can be cached by view. */
  view(caller: Caller): CatalogView {
    return this.search.withUsageOf(this.visibility.view(caller), caller);
  }

  /** Returns one server under its own names; undefined if there is no server of this name. */
  singleServer(name: string): SingleServerBackend | undefined {
    return this.#singleServers.get(name);
  }

  /** Calls a tool. No function on the path of a listed tool is async, because each async frame would cost half a kilobyte per call. */
  callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const entry = lookupTool(this.visibility.visibleTo(caller), name);
    // `whenRelisted` is not used here: nothing would await its promise, and a rejection on cancellation would end the process.
    if (entry !== undefined && !this.heldEntries.isRelisting(entry.upstream))
      return this.#pipeline.run(caller, createToolOperation(entry, request.params), request, ANY_LINK);
    // Resolving and calling are tracked as one unit. Otherwise a shutdown could see no running call between the two.
    return this.#pipeline.inFlight.track(
      request.cancellation,
      this.#resolveAndCallTool(caller, name, request),
    );
  }

  async #resolveAndCallTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const entry = await this.#pipeline.audit.lookUp(LOOKUP_TARGETS.tool, caller, request, () =>
      this.#unlistedTools.resolve(caller, name, request),
    );
    return this.#pipeline.run(caller, createToolOperation(entry, request.params), request, ANY_LINK);
  }

  /** Calls a tool of the gateway itself, through the same guards. */
  callGatewayTool(caller: Caller, operation: Operation, request: CallRequest): Promise<Payload> {
    return this.#pipeline.run(caller, operation, request);
  }

  async getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const operation = await this.#pipeline.audit.lookUp(LOOKUP_TARGETS.prompt, caller, request, () =>
      createPromptOperation(this.visibility.visibleTo(caller), name, request.params),
    );
    return this.#pipeline.run(caller, operation, request, ANY_LINK);
  }

  async readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload> {
    const operation = await this.#pipeline.audit.lookUp(LOOKUP_TARGETS.resource, caller, request, () =>
      createResourceOperation(this.#resolveResource(caller, uri), request.params),
    );
    return this.#pipeline.run(caller, operation, request, { requestedUri: uri });
  }

  /** Completes an argument of a prompt or of a resource template. */
  async complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload> {
    const operation = await this.#pipeline.audit.lookUp(LOOKUP_TARGETS.completion, caller, request, () =>
      createCompletionOperation(this.visibility.visibleTo(caller), ref, request.params),
    );
    return this.#pipeline.run(caller, operation, request);
  }

  subscribe(
    ...[caller, uri, onUpdate, requestingClient]: Parameters<GatewayBackend['subscribe']>
  ): Promise<Disposable> {
    return this.#pipeline.audit.subscribe(
      caller,
      uri,
      () => this.#resolveResource(caller, uri),
      ({ upstream, uri: upstreamUri }) => {
        const signIn = this.#deps.pool.signInFor(upstream, caller);
        return this.#subscriptions.add(signIn, upstreamUri, onUpdate, requestingClient);
      },
    );
  }

  async watchTasks(
    ...[caller, ids, onUpdate]: Parameters<GatewayBackend['watchTasks']>
  ): Promise<TaskSubscriptions> {
    const subscriptions = new Map<string, Promise<Disposable>>();
    for (const [id, upstream] of await this.#tasks.findUpstreams(caller, ids)) {
      const signIn = this.#deps.pool.signInFor(upstream, caller);
      const onNamedUpdate = (params: JsonObject): void =>
        onUpdate(nameServerInInputRequests(params, upstream));
      subscriptions.set(id, this.#subscriptions.add(signIn, taskKey(id), onNamedUpdate));
    }
    return subscriptions;
  }

  /** Returns true only for requests about tasks. For other methods, it is unknown which server should receive them. */
  canForward(method: string): boolean {
    return isTaskMethod(method);
  }

  async forward(caller: Caller, method: string, request: CallRequest): Promise<Payload> {
    const target = { kind: 'other', method } as const;
    const operation = await this.#pipeline.audit.lookUp(target, caller, request, () =>
      this.#tasks.createOperation(caller, method, request.params),
    );
    return this.#pipeline.run(caller, operation, request);
  }

  declareClient(capabilities: JsonObject): void {
    this.#deps.pool.declare(capabilities);
  }

  requestLogLevel(level: string): void {
    this.#deps.pool.raiseLogLevel(level);
  }

  endSession(session: string): void {
    this.#deps.pool.endSession(session).catch((error: unknown) => {
      this.#deps.log.warn('Cannot stop the server process of a session.', { reason: String(error) });
    });
  }

  status(): readonly UpstreamStatus[] {
    return this.servers.status();
  }

  /** Waits for running calls to finish, and cancels those that have not finished within `withinMs`. */
  drain(withinMs: number): Promise<void> {
    return this.#pipeline.inFlight.drain(withinMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#listing[Symbol.asyncDispose]();
    this.#listChanges[Symbol.dispose]();
    this.search[Symbol.dispose]();
    this.heldCalls[Symbol.dispose]();
    this.#deadlines[Symbol.dispose]();
  }

  /** Finds the server of a resource: the server that lists it, otherwise the server that sent this caller a link to it. */
  #resolveResource(caller: Caller, uri: string): ResourceRoute {
    const listed = findResource(this.visibility.visibleTo(caller), uri);
    if (listed !== undefined) return listed;
    const link = this.#pipeline.links.find(caller, uri);
    if (link === undefined) throw unknownResourceError(uri);
    const entry = findLinkedEntry(this.visibility.unfiltered, link);
    // A tool that the caller may use can return a link to a resource that the caller may not read.
    if (this.visibility.policyFor(caller).decide(entry).verdict === 'hide') throw unknownResourceError(uri);
    return { ...link, entry };
  }
}

/** Remembers each failed connection of a server, until it connects. */
function followFailures(pool: GatewayDeps['pool'], failures: FailureMemory): void {
  pool.events.on('state', ({ name, state }) => {
    const config = pool.get(name)?.config;
    if (state.kind === 'ready') failures.forget(name);
    else if (config !== undefined && 'error' in state && state.error !== undefined)
      failures.remember(config, state.error);
  });
}
