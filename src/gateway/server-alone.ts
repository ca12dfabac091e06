import type { Catalog } from '../catalog/catalog.ts';
import { findResource } from '../catalog/snapshot.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { Cancellation } from '../lib/cancellation.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import { GatewayError } from '../model/errors.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era, ServerFacts } from '../model/server-facts.ts';
import { watchedTask } from '../model/watched.ts';
import type { Operation } from '../policy/call.ts';
import type { UpstreamPool } from '../upstream/sharing/pool.ts';
import { BeyondLists } from './calls/beyond-lists.ts';
import type { CallRequest } from './calls/call-request.ts';
import { leftToServer, passesBetween } from './calls/pass-through.ts';
import {
  completionOperation,
  findTool,
  promptOperation,
  refuseHeldTool,
  resourceRoute,
  toolOperation,
  unknownEntry,
} from './calls/route.ts';
import type { Refusals } from './calls/refusals.ts';
import type { Quarantine } from './quarantine.ts';
import type { Served } from './served.ts';
import type { Sight } from './sight.ts';
import type { Subscriptions } from './calls/subscriptions.ts';
import { isAboutTask } from './calls/tasks.ts';
import type { Tasks } from './calls/tasks.ts';
import { changedLists, viewOf } from './view.ts';
import type { ChangedLists, View } from './view.ts';

export interface AloneDeps {
  readonly config: UpstreamConfig;
  readonly catalog: Catalog;
  readonly pool: UpstreamPool;
  readonly subscriptions: Subscriptions;
  readonly tasks: Tasks;
  /** The gateway of all servers: what does not depend on names is left to it. */
  readonly all: Pick<Served, 'events' | 'wantLogs' | 'endSession'>;
  readonly sight: Sight;
  readonly quarantine: Quarantine;
  readonly refusals: Refusals;
  readonly isForOne: boolean;
  readonly listWaitMs: () => number;
  /** Waits until the server was listed; fails with the reason why it cannot be. */
  readonly discover: (request: CallRequest) => Promise<void>;
  /** The one way to call anything, past every guard. */
  readonly call: (caller: Caller, operation: Operation, request: CallRequest) => Promise<Payload>;
}

/** One server by itself: its own names, its own order, its own answers, and nothing of the others. */
export class ServerAlone implements Served {
  readonly events = new Emitter<{ changed: ChangedLists }>();
  readonly isForOne: boolean;
  readonly #deps: AloneDeps;
  readonly #views = new WeakMap<Snapshot, View>();
  readonly #unlisted: View;
  readonly #beyond: BeyondLists;
  #announced: Snapshot | undefined;
  #waitUntil: number | undefined;

  constructor(deps: AloneDeps) {
    this.#deps = deps;
    this.isForOne = deps.isForOne;
    this.#beyond = new BeyondLists(deps);
    this.#unlisted = viewOf(undefined, [deps.config]);
    this.#announced = this.#snapshot;
    deps.all.events.on('changed', ({ byRules }) => this.#announce(byRules === true));
  }

  async introduction(): Promise<ServerFacts | undefined> {
    // Who has the server to itself would wait for it without us as well.
    if (this.isForOne && this.#facts === undefined) await this.#listed({ params: {}, ...ANYBODY() });
    await this.settled();
    // What its only client is introduced with is no news to it.
    if (this.isForOne) this.#announced ??= this.#snapshot;
    return this.#facts;
  }

  settled(): Promise<void> {
    const { catalog, config, listWaitMs } = this.#deps;
    const now = performance.now();
    this.#waitUntil ??= now + listWaitMs();
    return catalog.settled([config.name], Math.max(0, this.#waitUntil - now));
  }

  view(caller: Caller): View {
    const snapshot = this.#deps.sight.alone(caller, this.#deps.config.name);
    if (snapshot === undefined) return this.#unlisted;
    let view = this.#views.get(snapshot);
    if (view === undefined) this.#views.set(snapshot, (view = viewOf(snapshot, [this.#deps.config])));
    return view;
  }

  async callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('tool', 'tools/call', request);
    const operation = await this.#found(unlisted, caller, request, (snapshot) => {
      const entry = findTool(snapshot, name);
      if (entry !== undefined) return toolOperation(entry, request.params);
      refuseHeldTool(snapshot, name);
      if (!this.#beyond.mayCall(caller, name)) throw unknownEntry('tool', name, snapshot.tools.keys());
      return unlisted;
    });
    return this.#deps.call(caller, operation, request);
  }

  async getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('prompt', 'prompts/get', request);
    const operation = await this.#found(unlisted, caller, request, (snapshot) => {
      const isListed = [...snapshot.prompts.keys()].some((known) => known === name);
      // What the rules speak of is known here; the rest is the server's to refuse.
      return isListed || !this.#beyond.isOpen(caller)
        ? promptOperation(snapshot, name, request.params)
        : unlisted;
    });
    return this.#deps.call(caller, operation, request);
  }

  /** Whether an unlisted resource exists only the server knows, and it is the only one who could have it. */
  async readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('resource', 'resources/read', request);
    const operation = await this.#found(unlisted, caller, request, (snapshot) => {
      const entry = findResource(snapshot, uri)?.entry;
      if (entry === undefined && !this.#deps.sight.of(caller).isOpen) resourceRoute(snapshot, uri); // Says that there is none.
      return { ...unlisted, ...(entry && { entry }) };
    });
    return this.#deps.call(caller, operation, request);
  }

  async complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload> {
    const unlisted = this.#unlistedOperation('completion', 'completion/complete', request);
    const operation = await this.#found(unlisted, caller, request, (snapshot) => {
      try {
        return completionOperation(snapshot, ref, request.params);
      } catch (error) {
        // Templates are not approved, so that one which is in no list is the server's own matter.
        const isFree =
          ref['type'] === 'ref/prompt' ? this.#beyond.isOpen(caller) : this.#deps.sight.of(caller).isOpen;
        if (!(error instanceof GatewayError) || !isFree) throw error;
        return unlisted;
      }
    });
    return this.#deps.call(caller, operation, request);
  }

  takes(method: string, era: Era): boolean {
    return passesBetween(method, era, this.#facts?.era ?? era);
  }

  leavesToServer(method: string, params: JsonObject, era: Era): boolean {
    return this.#facts !== undefined && leftToServer(method, params, { era, facts: this.#facts });
  }

  /** What we do not know passes as it is; the server knows whether there is such a thing. */
  async pass(caller: Caller, method: string, request: CallRequest): Promise<Payload> {
    const { config, tasks } = this.#deps;
    const { params } = request;
    const unlisted = this.#unlistedOperation('other', method, request);
    const operation = await this.#found(unlisted, caller, request, () => {
      if (isAboutTask(method) && tasks.isForeign(caller, config.name, params['taskId']))
        tasks.upstreamOf(caller, params); // Says that there is none.
      this.#beyond.refuseOdd(caller, method, params);
      return unlisted;
    });
    const answer = await this.#deps.call(caller, operation, request);
    this.#beyond.checkAnswered(caller, method);
    return method === 'tasks/list' && !this.isForOne
      ? tasks.withoutForeign(caller, config.name, answer)
      : answer;
  }

  notify(method: string, params: JsonObject | undefined): void {
    const { pool, config } = this.#deps;
    if (this.#facts?.era === 'modern') return;
    // What one of several clients has for roots is not what the server may use for all, nor is a caller's word the operator's.
    const isOfOne = method === 'notifications/roots/list_changed' || config.auth?.per === 'caller';
    if (!this.isForOne && isOfOne) return;
    pool
      .get(config.name)
      ?.connected(new Cancellation())
      .then((connection) => connection.notify(method, params))
      .catch(() => {}); // Nobody waits for it, and its state says why it cannot be reached.
  }

  attach(client: ClientBehind): Disposable {
    return this.#deps.pool.attach(this.#deps.config.name, client);
  }

  subscribe(...[caller, uri, onUpdate, behind]: Parameters<Served['subscribe']>): Promise<Disposable> {
    const { config, pool, subscriptions, refusals, sight } = this.#deps;
    const find = (): { readonly upstream: UpstreamName; readonly uri: string } => {
      if (!sight.of(caller).isOpen) resourceRoute(sight.alone(caller, config.name), uri); // Says that there is none.
      return { upstream: config.name, uri };
    };
    return refusals.subscription(caller, uri, find, () =>
      subscriptions.add(pool.signedIn(config.name, caller), uri, onUpdate, behind),
    );
  }

  watchTask(...[caller, id, onUpdate]: Parameters<Served['watchTask']>): Promise<Disposable> | undefined {
    const { config, pool, subscriptions, tasks } = this.#deps;
    if (this.#facts?.era !== 'modern' || tasks.isForeign(caller, config.name, id)) return undefined;
    return subscriptions.add(pool.signedIn(config.name, caller), watchedTask(id), onUpdate);
  }

  wantLogs(level: string): void {
    this.#deps.all.wantLogs(level);
  }

  endSession(session: string): void {
    this.#deps.all.endSession(session);
  }

  get #snapshot(): Snapshot | undefined {
    return this.#deps.catalog.alone(this.#deps.config.name);
  }

  get #facts(): ServerFacts | undefined {
    return this.#snapshot?.upstreams.get(this.#deps.config.name)?.facts;
  }

  #unlistedOperation(kind: Operation['kind'], method: string, { params }: CallRequest): Operation {
    return { kind, upstream: this.#deps.config.name, method, params };
  }

  /** What the request means among what the caller may see; that it means nothing is recorded. */
  #found(
    asked: Operation,
    caller: Caller,
    request: CallRequest,
    find: (snapshot: Snapshot) => Operation,
  ): Promise<Operation> {
    return this.#deps.refusals.before(asked, caller, request, async () =>
      find(await this.#seen(caller, request)),
    );
  }

  /** What the caller may see of it. */
  async #seen(caller: Caller, request: CallRequest): Promise<Snapshot> {
    const whole = await this.#listed(request);
    await this.#deps.quarantine.changing(this.#deps.config.name, request.cancellation);
    return this.#deps.sight.alone(caller, this.#deps.config.name) ?? whole;
  }

  async #listed(request: CallRequest): Promise<Snapshot> {
    if (this.#snapshot === undefined) await this.#deps.discover(request);
    const snapshot = this.#snapshot;
    if (snapshot !== undefined) return snapshot;
    throw new GatewayError('UPSTREAM_UNAVAILABLE', `Server "${this.#deps.config.name}" could not be listed.`);
  }

  #announce(isByRules: boolean): void {
    const [before, after] = [this.#announced, this.#snapshot];
    this.#announced = after;
    if (after === undefined && before === undefined) return;
    const changed =
      before === undefined || after === undefined || isByRules
        ? offeredLists((after ?? before)?.upstreams.get(this.#deps.config.name)?.facts)
        : changedLists(before, after);
    if (changed.tools || changed.prompts || changed.resources) this.events.emit('changed', changed);
  }
}

/** Of a list that the server does not have it cannot say that it changed. */
function offeredLists(facts: ServerFacts | undefined): ChangedLists {
  const has = (kind: string): boolean => facts === undefined || kind in facts.capabilities;
  return { tools: has('tools'), prompts: has('prompts'), resources: has('resources') };
}

const ANYBODY = (): Pick<CallRequest, 'session' | 'cancellation'> => ({
  session: 'nobody',
  cancellation: new Cancellation(),
});
