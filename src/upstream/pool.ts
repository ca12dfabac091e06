import type { UpstreamConfig } from '../config/config.ts';
import { Emitter } from '../lib/emitter.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { moreVerbose } from '../model/log-level.ts';
import type { Logger } from '../observe/log.ts';
import type { ClientIdentity } from './negotiate.ts';
import type { OpenPeer } from './open-peer.ts';
import type { UpstreamState } from './state.ts';
import { Upstream } from './upstream.ts';
import type { EraMemory } from './upstream-deps.ts';

interface PoolEvents {
  state: { readonly name: UpstreamName; readonly state: UpstreamState };
  listChanged: { readonly name: UpstreamName };
  resourceUpdated: { readonly name: UpstreamName; readonly params: JsonObject };
}

interface PoolDeps {
  readonly open: OpenPeer;
  readonly identity: ClientIdentity;
  readonly eras: EraMemory;
  readonly log: Logger;
  readonly now: () => number;
}

/** Owns every upstream: one for all clients, and one more per session where the config says so. */
export class UpstreamPool implements AsyncDisposable {
  readonly events: Emitter<PoolEvents>;
  readonly #deps: PoolDeps;
  readonly #shared = new Map<UpstreamName, Upstream>();
  #logLevel: string | undefined;
  readonly #ofSessions = new Map<string, Map<UpstreamName, Upstream>>();

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.events = new Emitter((error) => deps.log.error('A listener failed.', { reason: String(error) }));
  }

  add(config: UpstreamConfig): void {
    this.#shared.set(config.name, this.#create(config));
  }

  names(): readonly UpstreamName[] {
    return [...this.#shared.keys()];
  }

  /** The one that listings come from and that calls use unless the upstream is shared by session. */
  get(name: UpstreamName): Upstream | undefined {
    return this.#shared.get(name);
  }

  /** The one that serves this session. */
  forSession(name: UpstreamName, session: string): Upstream | undefined {
    const shared = this.#shared.get(name);
    if (shared === undefined || shared.config.share === 'all') return shared;
    let own = this.#ofSessions.get(session);
    if (own === undefined) this.#ofSessions.set(session, (own = new Map<UpstreamName, Upstream>()));
    let upstream = own.get(name);
    if (upstream === undefined) own.set(name, (upstream = this.#create(shared.config)));
    return upstream;
  }

  wantLogs(level: string): void {
    this.#logLevel = moreVerbose(level, this.#logLevel);
    for (const upstream of this.#all()) upstream.wantLogs(this.#logLevel);
  }

  async endSession(session: string): Promise<void> {
    const own = this.#ofSessions.get(session);
    this.#ofSessions.delete(session);
    if (own !== undefined)
      await Promise.all([...own.values()].map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#all().map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  #all(): readonly Upstream[] {
    return [this.#shared, ...this.#ofSessions.values()].flatMap((upstreams) => [...upstreams.values()]);
  }

  #create(config: UpstreamConfig): Upstream {
    const { name } = config;
    const upstream = new Upstream(config, {
      ...this.#deps,
      onState: (state) => this.events.emit('state', { name, state }),
      onListChanged: () => this.events.emit('listChanged', { name }),
      onResourceUpdated: (params) => this.events.emit('resourceUpdated', { name, params }),
    });
    if (this.#logLevel !== undefined) upstream.wantLogs(this.#logLevel);
    return upstream;
  }
}
