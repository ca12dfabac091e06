import type { UpstreamConfig } from '../config/config.ts';
import { Emitter } from '../lib/emitter.ts';
import { signInOf } from '../model/caller.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientBehind } from '../model/client-behind.ts';
import type { Credentials } from '../model/credentials.ts';
import type { UpstreamName } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import { moreVerbose } from '../model/log-level.ts';
import type { Logger } from '../observe/log.ts';
import type { ClientIdentity } from './negotiate.ts';
import type { OpenPeer } from './open-peer.ts';
import { OwnedIds } from './owned-ids.ts';
import { whoLeaves } from './session-room.ts';
import type { UpstreamState } from './state.ts';
import { Upstream } from './upstream.ts';
import type { EraMemory } from './upstream-deps.ts';

/** An upstream with one of its sign-ins, which is empty for the one that all callers share. */
export interface SignedIn {
  readonly name: UpstreamName;
  readonly signedInAs: string;
}

interface PoolEvents {
  state: { readonly name: UpstreamName; readonly state: UpstreamState };
  listChanged: { readonly name: UpstreamName };
  news: SignedIn & { readonly params: JsonObject };
}

interface PoolDeps {
  readonly open: OpenPeer;
  readonly identity: ClientIdentity;
  readonly eras: EraMemory;
  /** How to prove ourselves to a server, for a caller where each has an own sign-in, else for the empty one. */
  readonly credentialsFor?: (config: UpstreamConfig, caller: string) => Credentials | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

/** Owns every upstream: one for all clients, and one more per session where the config says so. */
export class UpstreamPool implements AsyncDisposable {
  readonly events: Emitter<PoolEvents>;
  readonly #deps: PoolDeps;
  readonly #shared = new Map<UpstreamName, Upstream>();
  readonly #attached = new Map<UpstreamName, Set<ClientBehind>>();
  readonly #usedAt = new WeakMap<Upstream, number>();
  #logLevel: string | undefined;
  readonly #ofSessions = new Map<string, Map<UpstreamName, Upstream>>();
  readonly #ofCallers = new Map<string, Map<UpstreamName, Upstream>>();

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

  /** The one that serves this session; where callers sign in by themselves, none is ever that of another caller. */
  forSession(name: UpstreamName, session: string, caller?: Caller): Upstream | undefined {
    const shared = this.#shared.get(name);
    const share = shared?.config.share;
    const as = this.signedIn(name, caller);
    if (shared === undefined || share === 'all') return this.with(as);
    // A session belongs to one caller for as long as it lives.
    const own = ownOf(this.#ofSessions, session);
    let upstream = own.get(name);
    if (share === 'session' && (upstream === undefined || upstream.state.at === 'idle'))
      this.#makeRoom(shared);
    if (upstream === undefined) own.set(name, (upstream = this.#create(shared.config, as.signedInAs)));
    this.#usedAt.set(upstream, this.#deps.now());
    return upstream;
  }

  /** With whose sign-in goes out what this caller asks of it. */
  signedIn(name: UpstreamName, caller?: Caller): SignedIn {
    const isOwn = this.#shared.get(name)?.config.auth?.per === 'caller';
    return { name, signedInAs: isOwn && caller !== undefined ? signInOf(caller) : '' };
  }

  /** The one with this sign-in, for what belongs to no session. */
  with({ name, signedInAs }: SignedIn): Upstream | undefined {
    const shared = this.#shared.get(name);
    if (shared === undefined || signedInAs === '') return shared;
    const own = ownOf(this.#ofCallers, signedInAs);
    let upstream = own.get(name);
    if (upstream === undefined) own.set(name, (upstream = this.#create(shared.config, signedInAs)));
    return upstream;
  }

  wantLogs(level: string): void {
    this.#logLevel = moreVerbose(level, this.#logLevel);
    for (const upstream of this.#all()) upstream.wantLogs(this.#logLevel);
  }

  /** Replaces it, with its sessions' ones, by one that knows of no failure; calls in flight end. */
  async restart(name: UpstreamName): Promise<void> {
    const shared = this.#shared.get(name);
    if (shared === undefined) return;
    const ended = [shared];
    this.add(shared.config);
    for (const own of [...this.#ofSessions.values(), ...this.#ofCallers.values()]) {
      const upstream = own.get(name);
      if (upstream !== undefined) ended.push(upstream);
      own.delete(name);
    }
    await Promise.all(ended.map((upstream) => upstream[Symbol.asyncDispose]()));
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

  /** Sessions are many; processes of one server for them are not. */
  #makeRoom({ name, config }: Upstream): void {
    const occupants = new Map<string, Upstream>();
    for (const [session, own] of this.#ofSessions) {
      const upstream = own.get(name);
      if (upstream !== undefined) occupants.set(session, upstream);
    }
    const max = config.limits.sessions;
    const leaving = whoLeaves(name, { occupants, max, usedAt: (each) => this.#usedAt.get(each) ?? 0 });
    if (leaving === undefined) return;
    this.#ofSessions.get(leaving)?.delete(name);
    const { log } = this.#deps;
    log.info("Ended a session's own process of a server, since others need one.", { upstream: name, max });
    occupants
      .get(leaving)
      ?.[Symbol.asyncDispose]()
      .catch((error: unknown) => log.warn('Cannot end a server of a session.', { reason: String(error) }));
  }

  /** A client that faces this server alone, for what the server says outside of calls. */
  attach(name: UpstreamName, client: ClientBehind): Disposable {
    let attached = this.#attached.get(name);
    if (attached === undefined) this.#attached.set(name, (attached = new Set()));
    attached.add(client);
    return { [Symbol.dispose]: () => void attached.delete(client) };
  }

  /** Where several are attached, nobody can be meant. */
  #outside(name: UpstreamName): ClientBehind | undefined {
    const attached = this.#attached.get(name);
    return attached?.size === 1 ? [...attached][0] : undefined;
  }

  #all(): readonly Upstream[] {
    const all = [this.#shared, ...this.#ofSessions.values(), ...this.#ofCallers.values()];
    return all.flatMap((upstreams) => [...upstreams.values()]);
  }

  #create(config: UpstreamConfig, signedInAs = ''): Upstream {
    const { name } = config;
    const upstream = new Upstream(config, {
      ...this.#deps,
      credentials: this.#deps.credentialsFor?.(config, signedInAs),
      onState: (state) => this.events.emit('state', { name, state }),
      onListChanged: () => this.events.emit('listChanged', { name }),
      onNews: (params) => this.events.emit('news', { name, signedInAs, params }),
      outside: () => this.#outside(name),
      owned: new OwnedIds(),
    });
    if (this.#logLevel !== undefined) upstream.wantLogs(this.#logLevel);
    return upstream;
  }
}

function ownOf(owners: Map<string, Map<UpstreamName, Upstream>>, owner: string): Map<UpstreamName, Upstream> {
  let own = owners.get(owner);
  if (own === undefined) owners.set(owner, (own = new Map<UpstreamName, Upstream>()));
  return own;
}
