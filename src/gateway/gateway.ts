import type { ResourceRoute } from '../catalog/snapshot.ts';
import type { ConfigState } from '../config/reload/config-state.ts';
import { Deadlines } from '../lib/deadlines.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { watchedTask } from '../model/watched.ts';
import { WaitingCalls } from '../policy/ask/waiting-calls.ts';
import { runToEnd } from '../policy/run-to-end.ts';
import type { Call, Operation } from '../policy/call.ts';
import { Announcements } from './listing/announcements.ts';
import { callOf } from './calls/call-request.ts';
import type { CallRequest } from './calls/call-request.ts';
import { applyChange, noSuchServer } from './operating/config-change.ts';
import type { ConfigChange } from './operating/config-change.ts';
import { Discovery } from './listing/discovery.ts';
import { FirstListing } from './listing/first-listing.ts';
import { listWaitOf, restOf } from './listing/list-wait.ts';
import type { ListWait } from './listing/list-wait.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { GivenLinks } from './calls/given-links.ts';
import { InFlight } from './calls/in-flight.ts';
import { InForce } from './in-force.ts';
import { Quarantine } from './quarantine.ts';
import { ASKED, Refusals } from './calls/refusals.ts';
import {
  completionOperation,
  findTool,
  promptOperation,
  resourceOperation,
  resourceRoute,
  toolOperation,
} from './calls/route.ts';
import { Servers } from './operating/servers.ts';
import { Sight } from './sight.ts';
import type { UpstreamStatus } from './operating/status.ts';
import { Subscriptions } from './calls/subscriptions.ts';
import { ServersAlone } from './servers-alone.ts';
import type { Served } from './served.ts';
import { Tasks, isAboutTask } from './calls/tasks.ts';
import { ToolSearch } from './tool-search.ts';
import { troubleOf } from './operating/trouble.ts';
import type { ChangedLists, View } from './view.ts';

/** Where pool, catalog and policy meet; there is one way to call anything, and it is here. */
export class Gateway implements Served, AsyncDisposable {
  readonly events = new Emitter<{ changed: ChangedLists; config: ConfigState }>();
  readonly servers: Servers;
  readonly search: ToolSearch;
  readonly sight: Sight;
  readonly quarantine: Quarantine;
  /** Calls that wait for a person. */
  readonly waiting: WaitingCalls;
  readonly #deps: GatewayDeps;
  readonly #discovery: Discovery;
  readonly #first: FirstListing;
  readonly #refusals: Refusals;
  readonly #deadlines: Deadlines;
  readonly #subscriptions: Subscriptions;
  readonly #announcements: Announcements;
  readonly #inForce: InForce;
  readonly #links = new GivenLinks();
  readonly #inFlight = new InFlight();
  readonly #tasks = new Tasks();
  readonly #alone: ServersAlone;
  #listWait: ListWait | undefined;

  constructor(deps: GatewayDeps) {
    const { config, pool, catalog, now, log } = deps;
    this.#deps = deps;
    this.#announcements = new Announcements(catalog, (changed) => this.events.emit('changed', changed));
    const refreshMs = (): number => this.#inForce.config.startup.refreshMs;
    this.#discovery = new Discovery(pool, catalog, { refreshMs, now, log, turn: deps.turn });
    this.#deadlines = new Deadlines({ tickMs: 50, now: () => performance.now() });
    this.#subscriptions = new Subscriptions((at) => pool.with(at), deps.elsewhere);
    const [discovery, subscriptions] = [this.#discovery, this.#subscriptions];
    this.servers = new Servers({ pool, catalog, discovery, subscriptions });
    this.search = new ToolSearch({ ...deps, upstreams: config.upstreams, config: config.search });
    const trouble = (name: UpstreamName): string | undefined => troubleOf(this.servers.statusOf(name));
    this.sight = new Sight({ config, catalog, find: this.search.find, trouble });
    this.waiting = new WaitingCalls(now);
    const { sight, waiting, servers } = this;
    const { approvals } = deps;
    const deadlines = this.#deadlines;
    this.#inForce = new InForce(deps, { sight, waiting, deadlines, send: (call) => this.#send(call) });
    const { configs, facts } = this.#inForce;
    this.quarantine = new Quarantine({ approvals, catalog, servers, discovery, configs });
    const { quarantine } = this;
    this.#refusals = new Refusals({ watch: () => this.#inForce.watch, facts, catalog, sight });
    this.#first = new FirstListing({
      ...{ pool, catalog, discovery, sight, quarantine, deadlines },
      separator: () => this.#inForce.config.names.separator,
      timeoutOf: (name) => this.#timeoutOf(name),
    });
    this.#alone = new ServersAlone({
      ...{ configs, catalog, pool, subscriptions, tasks: this.#tasks, all: this, sight, quarantine },
      refusals: this.#refusals,
      isForOne: deps.isForOne === true,
      listWaitMs: () => this.#inForce.config.startup.listWaitMs,
      discover: (name, request) =>
        this.#inFlight.track(request.cancellation, this.#first.list(name, request)),
      call: (caller, operation, request) => this.#guarded(caller, operation, request),
    });
  }

  start(when?: 'at-once' | 'on-demand'): void {
    const { pool, catalog } = this.#deps;
    catalog.events.on('changed', ({ before }) => this.#announcements.soon(before));
    pool.events.on('news', (news) => this.#subscriptions.updated(news, news.params));
    this.#discovery.start(when);
  }

  /** Takes over another configuration at once; what was called before ends as it began. */
  async apply(change: ConfigChange): Promise<void> {
    this.#inForce.take(change.snapshot.value, change);
    const { sight, search, waiting, quarantine } = this;
    await applyChange(change, {
      ...{ ...this.#deps, sight, search, waiting, quarantine },
      ...{ discovery: this.#discovery, subscriptions: this.#subscriptions },
      announcements: this.#announcements,
    });
  }

  /**
   * Resolves once every server was listed or the wait is over; at once when all are known. There is one wait for all who ask, so
   * that a server which never answers does not hold up every list.
   */
  settled(): Promise<void> {
    const { catalog, pool } = this.#deps;
    // By a clock that nobody sets: on a machine whose time is put back the wait would begin anew.
    const now = performance.now();
    this.#listWait ??= listWaitOf(this.#inForce.config.startup.listWaitMs, now);
    return catalog.settled(pool.names(), restOf(this.#listWait, now));
  }

  /** Resolves when every server was listed once in this run, or could not be. */
  get discovered(): Promise<void> {
    return this.#discovery.firstRound;
  }

  /** The same object while nothing changed, so that what is derived from it can be kept with it. */
  view(caller: Caller): View {
    return this.search.remembering(this.sight.view(caller), caller);
  }

  /** One server by itself, under its own names; undefined when there is none of that name. */
  alone(name: string): Served | undefined {
    return this.#alone.get(name);
  }

  /** Not an async function, like all that a call of a known tool passes: each of their frames is half a kilobyte. */
  callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const known = findTool(this.sight.all(caller), name);
    // Not by asking for the promise: one that nobody awaits ends the program when the call is cancelled.
    if (known !== undefined && !this.quarantine.isChanging(known.upstream))
      return this.#linked(caller, toolOperation(known, request.params), request);
    // One piece of work to its end, or a stop could fall between finding and calling.
    return this.#inFlight.track(request.cancellation, this.#callFound(caller, name, request));
  }

  async #callFound(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const find = (): Promise<ToolEntry> => this.#first.tool(caller, name, request);
    const entry = await this.#refusals.before(ASKED.tool, caller, request, find);
    return this.#linked(caller, toolOperation(entry, request.params), request);
  }

  /** A tool of our own, inside the same guards. */
  callOwn(caller: Caller, operation: Operation, request: CallRequest): Promise<Payload> {
    return this.#guarded(caller, operation, request);
  }

  async getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const operation = await this.#refusals.before(ASKED.prompt, caller, request, () =>
      promptOperation(this.sight.all(caller), name, request.params),
    );
    return this.#linked(caller, operation, request);
  }

  async readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload> {
    const operation = await this.#refusals.before(ASKED.resource, caller, request, () =>
      resourceOperation(this.#route(caller, uri), request.params),
    );
    return this.#linked(caller, operation, request, uri);
  }

  /** Completes an argument of a prompt or of a resource template. */
  async complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload> {
    const operation = await this.#refusals.before(ASKED.completion, caller, request, () =>
      completionOperation(this.sight.all(caller), ref, request.params),
    );
    return this.#guarded(caller, operation, request);
  }

  /** `onUpdate` is called until the subscription is disposed of. */
  subscribe(...[caller, uri, onUpdate, behind]: Parameters<Served['subscribe']>): Promise<Disposable> {
    const find = (): ResourceRoute => this.#route(caller, uri);
    return this.#refusals.subscription(caller, uri, find, ({ upstream, uri: own }) =>
      this.#subscriptions.add(this.#deps.pool.signedIn(upstream, caller), own, onUpdate, behind),
    );
  }

  watchTask(...[caller, id, onUpdate]: Parameters<Served['watchTask']>): Promise<Disposable> | undefined {
    const upstream = this.#tasks.ownUpstreamOf(caller, id);
    if (upstream === undefined) return undefined;
    return this.#subscriptions.add(this.#deps.pool.signedIn(upstream, caller), watchedTask(id), onUpdate);
  }

  /** Of what we do not know only requests about tasks can be passed on, since the server of each task is known. */
  takes(method: string): boolean {
    return isAboutTask(method);
  }

  async pass(caller: Caller, method: string, request: CallRequest): Promise<Payload> {
    const operation = await this.#refusals.before({ kind: 'other', method }, caller, request, () =>
      this.#tasks.operation(caller, method, request.params),
    );
    return this.#guarded(caller, operation, request);
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
    return this.servers.status();
  }

  /** Lets calls in flight finish; those that have not by the deadline are cancelled. */
  drain(withinMs: number): Promise<void> {
    return this.#inFlight.drain(withinMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#discovery[Symbol.asyncDispose]();
    this.#announcements[Symbol.dispose]();
    this.search[Symbol.dispose]();
    this.waiting[Symbol.dispose]();
    this.#deadlines[Symbol.dispose]();
  }

  #route(caller: Caller, uri: string): ResourceRoute {
    return resourceRoute(this.sight.all(caller), uri, this.#links.find(caller.id, uri));
  }

  /** What the answer links to can be read through us. */
  #linked(caller: Caller, operation: Operation, request: CallRequest, asked?: string): Promise<Payload> {
    return this.#guarded(caller, operation, request, asked === undefined ? ANY_LINK : { asked });
  }

  #guarded(caller: Caller, operation: Operation, request: CallRequest, links?: Links): Promise<Payload> {
    const call = callOf(caller, operation, request, this.#timeoutOf(operation.upstream));
    const refusal = request.check && this.#refusals.check(call, request);
    if (refusal !== undefined) return Promise.reject(refusal);
    call.ends.push(this.#inFlight.begin(call.cancellation));
    return runToEnd(this.#inForce.run, call, (payload) => this.#answered(call, payload, links));
  }

  #answered(call: Call, payload: Payload, links: Links | undefined): Payload {
    this.#tasks.answered(call, payload);
    if (links === undefined) return payload;
    const { caller, operation } = call;
    const { upstream, params, entry } = operation;
    if (entry?.kind === 'tool') this.search.used(caller, entry);
    const { asked } = links;
    const read = asked === undefined ? undefined : { asked, own: params['uri'] };
    const snapshot = this.sight.all(caller);
    return this.#links.expose(payload, { caller: caller.id, upstream, snapshot, read });
  }

  #send(call: Call): Promise<Payload> {
    const { upstream: name, method, params, entry, answer } = call.operation;
    if (answer !== undefined) return answer(call);
    this.quarantine.refuseHeld(entry);
    const upstream = this.#deps.pool.forSession(name, call.session, call.caller);
    if (upstream === undefined) throw noSuchServer(name);
    return upstream.request(method, params, call);
  }

  #timeoutOf(upstream: UpstreamName): number {
    return this.#inForce.configs.get(upstream)?.timeouts.callMs ?? 120_000;
  }
}

/** How links of an answer are treated; `asked` is what the client calls the resource it reads. */
interface Links {
  readonly asked?: string;
}

const ANY_LINK: Links = {};
