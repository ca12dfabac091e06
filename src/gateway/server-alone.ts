import type { Catalog } from '../catalog/catalog.ts';
import { findResource } from '../catalog/snapshot.ts';
import type { Snapshot } from '../catalog/snapshot.ts';
import type { UpstreamConfig } from '../config/config.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { ServerFacts } from '../model/server-facts.ts';
import type { Operation } from '../policy/call.ts';
import type { CallRequest } from './call-request.ts';
import { completionOperation, findTool, promptOperation, toolOperation, unknownEntry } from './route.ts';
import type { Served } from './served.ts';
import type { Subscriptions } from './subscriptions.ts';
import { changedLists, viewOf } from './view.ts';
import type { ChangedLists, View } from './view.ts';

interface AloneDeps {
  readonly config: UpstreamConfig;
  readonly catalog: Catalog;
  readonly subscriptions: Subscriptions;
  /** The gateway of all servers: what does not depend on names is left to it. */
  readonly all: Pick<Served, 'events' | 'wantLogs' | 'endSession'>;
  readonly listWaitMs: number;
  readonly now: () => number;
  /** Waits until the server was listed; fails with the reason why it cannot be. */
  readonly discover: (request: CallRequest) => Promise<void>;
  /** The one way to call anything, past every guard. */
  readonly call: (caller: Caller, operation: Operation, request: CallRequest) => Promise<Payload>;
}

/** One server by itself: its own names, its own order, and nothing of the others. */
export class ServerAlone implements Served {
  readonly events = new Emitter<{ changed: ChangedLists }>();
  readonly #deps: AloneDeps;
  readonly #views = new WeakMap<Snapshot, View>();
  readonly #unlisted: View;
  #announced: Snapshot | undefined;
  #waitUntil: number | undefined;

  constructor(deps: AloneDeps) {
    this.#deps = deps;
    this.#unlisted = viewOf(undefined, [deps.config]);
    this.#announced = this.#snapshot;
    deps.all.events.on('changed', () => this.#announce());
  }

  async introduction(): Promise<ServerFacts | undefined> {
    await this.settled();
    return this.#deps.catalog.listing(this.#deps.config.name)?.facts;
  }

  settled(): Promise<void> {
    const { catalog, config, listWaitMs, now } = this.#deps;
    this.#waitUntil ??= now() + listWaitMs;
    return catalog.settled([config.name], Math.max(0, this.#waitUntil - now()));
  }

  view(_caller: Caller): View {
    const snapshot = this.#snapshot;
    if (snapshot === undefined) return this.#unlisted;
    let view = this.#views.get(snapshot);
    if (view === undefined) this.#views.set(snapshot, (view = viewOf(snapshot, [this.#deps.config])));
    return view;
  }

  async callTool(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const snapshot = await this.#listed(request);
    const entry = findTool(snapshot, name);
    if (entry === undefined) throw unknownEntry('tool', name, snapshot.tools.keys());
    return this.#deps.call(caller, toolOperation(entry, request.params), request);
  }

  async getPrompt(caller: Caller, name: string, request: CallRequest): Promise<Payload> {
    const operation = promptOperation(await this.#listed(request), name, request.params);
    return this.#deps.call(caller, operation, request);
  }

  /** Whether an unlisted resource exists only the server knows, and it is the only one who could have it. */
  async readResource(caller: Caller, uri: string, request: CallRequest): Promise<Payload> {
    const entry = findResource(await this.#listed(request), uri)?.entry;
    const operation: Operation = {
      kind: 'resource',
      upstream: this.#deps.config.name,
      ...(entry && { entry }),
      method: 'resources/read',
      params: request.params,
    };
    return this.#deps.call(caller, operation, request);
  }

  async complete(caller: Caller, ref: JsonObject, request: CallRequest): Promise<Payload> {
    const operation = completionOperation(await this.#listed(request), ref, request.params);
    return this.#deps.call(caller, operation, request);
  }

  subscribe(_caller: Caller, uri: string, onUpdate: () => void): Promise<Disposable> {
    return this.#deps.subscriptions.add(this.#deps.config.name, uri, onUpdate);
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

  async #listed(request: CallRequest): Promise<Snapshot> {
    if (this.#snapshot === undefined) await this.#deps.discover(request);
    const snapshot = this.#snapshot;
    if (snapshot !== undefined) return snapshot;
    throw new GatewayError('UPSTREAM_UNAVAILABLE', `Server "${this.#deps.config.name}" could not be listed.`);
  }

  #announce(): void {
    const [before, after] = [this.#announced, this.#snapshot];
    this.#announced = after;
    if (after === undefined) return;
    const changed =
      before === undefined ? { tools: true, prompts: true, resources: true } : changedLists(before, after);
    if (changed.tools || changed.prompts || changed.resources) this.events.emit('changed', changed);
  }
}
