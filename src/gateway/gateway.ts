import type { Catalog } from '../catalog/catalog.ts';
import { mayBelongTo } from '../catalog/naming.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { GatewayConfig, UpstreamConfig } from '../config/config.ts';
import { orCancelled } from '../lib/cancellation.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import { Deadlines } from '../lib/deadlines.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ToolEntry } from '../model/entry.ts';
import { GatewayError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Logger } from '../observe/log.ts';
import type { Call, Next, Operation } from '../policy/call.ts';
import { chain } from '../policy/chain.ts';
import { deadline, tooLate } from '../policy/guards/deadline.ts';
import { limit } from '../policy/guards/limit.ts';
import { validate } from '../policy/guards/validate.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import type { CallRequest } from './call-request.ts';
import { Discovery } from './discovery.ts';
import {
  completionOperation,
  findTool,
  promptOperation,
  resourceOperation,
  resourceRoute,
  toolOperation,
  unknownEntry,
} from './route.ts';
import { statusOf } from './status.ts';
import type { UpstreamStatus } from './status.ts';
import { Subscriptions } from './subscriptions.ts';
import { ServerAlone } from './server-alone.ts';
import type { Served } from './served.ts';
import { toolSearch } from './tool-search.ts';
import type { Find } from './tool-search.ts';
import { changedLists, viewOf } from './view.ts';
import type { ChangedLists, View } from './view.ts';

export interface GatewayDeps {
  readonly config: GatewayConfig;
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  /** The file of word vectors, for searching. */
  readonly vectors?: URL;
  readonly log: Logger;
  readonly now: () => number;
}

const ANNOUNCE_AFTER_MS = 50;

/** Where pool, catalog and policy meet; there is one way to call anything, and it is here. */
export class Gateway implements Served, AsyncDisposable {
  readonly events = new Emitter<{ changed: ChangedLists }>();
  readonly #deps: GatewayDeps;
  readonly #configs: ReadonlyMap<UpstreamName, UpstreamConfig>;
  readonly #discovery: Discovery;
  readonly #deadlines: Deadlines;
  readonly #subscriptions: Subscriptions;
  readonly #run: Next;
  readonly #find: Find;
  readonly #inFlight = new Set<Cancellation>();
  readonly #views = new WeakMap<Snapshot, View>();
  readonly #alone = new Map<UpstreamName, ServerAlone>();
  #drained: (() => void) | undefined;
  #announcing: NodeJS.Timeout | undefined;
  #listsWaitUntil: number | undefined;

  constructor(deps: GatewayDeps) {
    const { config, pool, catalog, now, log } = deps;
    this.#deps = deps;
    this.#configs = new Map(config.upstreams.map((upstream) => [upstream.name, upstream]));
    this.#discovery = new Discovery(pool, catalog, { refreshMs: config.startup.refreshMs, now, log });
    this.#deadlines = new Deadlines({ tickMs: 50, now });
    this.#subscriptions = new Subscriptions((name) => pool.get(name));
    const guards = [
      deadline({ deadlines: this.#deadlines, maxMs: config.maxCallMs, now }),
      limit((name) => this.#configs.get(name)?.limits),
      validate(),
    ];
    this.#run = chain(guards, (call) => this.#send(call));
    this.#find = toolSearch({ upstreams: config.upstreams, vectors: deps.vectors, log });
  }

  start(): void {
    const { pool, catalog } = this.#deps;
    catalog.events.on('changed', ({ before }) => this.#announceSoon(before));
    pool.events.on('resourceUpdated', ({ name, params }) => {
      if (typeof params['uri'] === 'string') this.#subscriptions.updated(name, params['uri']);
    });
    this.#discovery.start();
  }

  /**
   * Resolves once every server was listed or the wait is over; at once when all are known. There is one wait, beginning
   * with the first who asks, so that a server which never answers does not hold up every list.
   */
  settled(): Promise<void> {
    const { catalog, pool, config, now } = this.#deps;
    this.#listsWaitUntil ??= now() + config.startup.listWaitMs;
    return catalog.settled(pool.names(), Math.max(0, this.#listsWaitUntil - now()));
  }

  /** Resolves when every server was listed once in this run, or could not be. */
  get discovered(): Promise<void> {
    return this.#discovery.firstRound;
  }

  /** The same object while nothing changed, so that what is derived from it can be kept with it. */
  view(_caller: Caller): View {
    const snapshot = this.#deps.catalog.current;
    let view = this.#views.get(snapshot);
    if (view === undefined)
      this.#views.set(snapshot, (view = viewOf(snapshot, this.#deps.config.upstreams, this.#find)));
    return view;
  }

  /** One server by itself, under its own names; undefined when there is none of that name. */
  alone(name: string): Served | undefined {
    const config = this.#configs.get(name as UpstreamName); // The cast only asks the map.
    if (config === undefined) return undefined;
    let alone = this.#alone.get(config.name);
    if (alone !== undefined) return alone;
    const { catalog, now } = this.#deps;
    alone = new ServerAlone({
      config,
      catalog,
      subscriptions: this.#subscriptions,
      all: this,
      listWaitMs: this.#deps.config.startup.listWaitMs,
      now,
      discover: (request) => this.#tracked(request.cancellation, () => this.#discover(config.name, request)),
      call: (caller, operation, request) => this.#guarded(caller, operation, request),
    });
    this.#alone.set(config.name, alone);
    return alone;
  }

  async callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const known = findTool(this.#deps.catalog.current, name);
    if (known !== undefined) return this.#guarded(caller, toolOperation(known, request.params), request);
    // One piece of work to its end, or a stop could fall between finding and calling.
    return this.#tracked(request.cancellation, async () => {
      const entry = await this.#discoverTool(name, request);
      return this.#guarded(caller, toolOperation(entry, request.params), request);
    });
  }

  async getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    return this.#guarded(caller, promptOperation(this.#deps.catalog.current, name, request.params), request);
  }

  async readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload> {
    return this.#guarded(caller, resourceOperation(this.#deps.catalog.current, uri, request.params), request);
  }

  /** Completes an argument of a prompt or of a resource template. */
  async complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload> {
    return this.#guarded(
      caller,
      completionOperation(this.#deps.catalog.current, ref, request.params),
      request,
    );
  }

  /** `onUpdate` is called until the subscription is disposed of. */
  async subscribe(_caller: Caller, uri: string, onUpdate: () => void): Promise<Disposable> {
    const { upstream, uri: own } = resourceRoute(this.#deps.catalog.current, uri);
    return this.#subscriptions.add(upstream, own, onUpdate);
  }

  /** Some client wants log messages from this level on. */
  wantLogs(level: string): void {
    this.#deps.pool.wantLogs(level);
  }

  /** A client session is over; what only it used is ended. */
  endSession(session: string): void {
    this.#deps.pool.endSession(session).catch((error: unknown) => {
      this.#deps.log.warn('Cannot end a server of a session.', { reason: String(error) });
    });
  }

  status(): readonly UpstreamStatus[] {
    const { pool, catalog } = this.#deps;
    return pool.names().map((name) => statusOf(name, pool.get(name), catalog.listing(name)));
  }

  /** Lets calls in flight finish; those that have not by the deadline are cancelled. */
  async drain(withinMs: number): Promise<void> {
    if (this.#inFlight.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => (this.#drained = resolve)),
      new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs))),
    ]);
    clearTimeout(timer);
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping; try again in a moment.');
    for (const cancellation of [...this.#inFlight]) cancellation.cancel(reason);
    // Answers pass through a few promises on their way out; a turn later they have left.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#discovery[Symbol.asyncDispose]();
    clearTimeout(this.#announcing);
    this.#deadlines[Symbol.dispose]();
  }

  #guarded(caller: Caller, operation: Operation, request: CallRequest): Promise<Payload> {
    const { session, cancellation, onProgress, behind, checksArguments } = request;
    const timeoutMs = request.timeoutMs ?? this.#timeoutOf(operation.upstream);
    // Always the same members, which is faster than leaving some out.
    const call: Call = {
      caller,
      session,
      operation,
      cancellation,
      timeoutMs,
      onProgress,
      behind,
      checksArguments,
    };
    if (operation.entry?.kind === 'tool') request.check?.(operation.entry);
    return this.#tracked(cancellation, () => this.#run(call));
  }

  /** Work that a stop waits for. */
  async #tracked<T>(cancellation: Cancellation, work: () => Promise<T>): Promise<T> {
    this.#inFlight.add(cancellation);
    try {
      return await work();
    } finally {
      this.#inFlight.delete(cancellation);
      if (this.#inFlight.size === 0) this.#drained?.();
    }
  }

  /** Servers that are listed one after the other, as at a start, are one change for clients. */
  #announceSoon(before: Snapshot): void {
    this.#announcing ??= setTimeout(() => {
      this.#announcing = undefined;
      const changed = changedLists(before, this.#deps.catalog.current);
      if (changed.tools || changed.prompts || changed.resources) this.events.emit('changed', changed);
    }, ANNOUNCE_AFTER_MS);
  }

  #send(call: Call): Promise<Payload> {
    const { upstream: name, method, params } = call.operation;
    const upstream = this.#deps.pool.forSession(name, call.session);
    if (upstream === undefined) throw new GatewayError('INVARIANT', `There is no upstream "${name}".`);
    return upstream.request(method, params, call);
  }

  /** While a server has no listing yet, a call is matched against the known prefixes and only that server is listed. */
  async #discoverTool(name: string, request: CallRequest): Promise<ToolEntry> {
    const { pool, catalog, config } = this.#deps;
    const isPossible = (upstream: UpstreamName): boolean =>
      !catalog.has(upstream) && mayBelongTo(name, upstream, config.names.separator);
    for (const upstream of pool.names().filter(isPossible)) {
      await this.#discover(upstream, request);
      const entry = findTool(catalog.current, name);
      if (entry !== undefined) return entry;
    }
    throw unknownEntry('tool', name, catalog.current.tools.keys());
  }

  async #discover(upstream: UpstreamName, { cancellation, timeoutMs }: CallRequest): Promise<void> {
    const { catalog, now } = this.#deps;
    const waitMs = timeoutMs ?? this.#timeoutOf(upstream);
    const limit = this.#deadlines.add(now() + waitMs, () => cancellation.cancel(tooLate(upstream, waitMs)));
    try {
      await orCancelled(catalog.settled([upstream], waitMs), cancellation);
      if (!catalog.has(upstream)) await orCancelled(this.#discovery.refresh(upstream), cancellation);
    } finally {
      this.#deadlines.remove(limit);
    }
  }

  #timeoutOf(upstream: UpstreamName): number {
    return this.#configs.get(upstream)?.timeouts.callMs ?? 120_000;
  }
}
