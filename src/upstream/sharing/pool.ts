import type { UpstreamConfig } from '../../config/config.ts';
import { Emitter } from '../../lib/emitter.ts';
import { signInOf } from '../../model/caller.ts';
import type { Caller } from '../../model/caller.ts';
import type { ClientBehind } from '../../model/client-behind.ts';
import type { Credentials } from '../../model/credentials.ts';
import type { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { moreVerbose } from '../../model/log-level.ts';
import type { Logger } from '../../observe/log.ts';
import type { ClientIdentity } from '../opening/negotiate.ts';
import type { OpenPeer } from '../open-peer.ts';
import { OwnedIds } from '../owned-ids.ts';
import { whoLeaves } from './session-room.ts';
import type { UpstreamState } from '../state.ts';
import { Upstream } from '../upstream.ts';
import type { EraMemory } from '../upstream-deps.ts';

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
  /** Why a server could not be opened now, as far as it is known; by default nothing is. */
  readonly foresee?: ((config: UpstreamConfig) => Promise<GatewayError | undefined>) | undefined;
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
  /** Of servers that are gone or configured otherwise, until what was asked of them is answered. */
  readonly #leaving = new Map<Upstream, Promise<void>>();

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.events = new Emitter((error) => deps.log.error('A listener failed.', { reason: String(error) }));
  }

  add(config: UpstreamConfig): void {
    this.#shared.set(config.name, this.#create(config));
  }

  /**
   * Has exactly these servers from now on. Those that are not to be reopened keep their connections; of the others new calls go
   * to a new one, while the old one answers what it was asked. The new one waits for its end, up to a grace.
   */
  apply(
    configs: readonly UpstreamConfig[],
    { reopened, graceMs }: { readonly reopened: readonly UpstreamName[]; readonly graceMs: number },
  ): void {
    const before = new Map(this.#shared);
    // In the order of the configuration.
    this.#shared.clear();
    for (const config of configs) {
      const { name } = config;
      const earlier = before.get(name);
      before.delete(name);
      if (earlier !== undefined && !reopened.includes(name)) {
        this.#shared.set(name, earlier);
        for (const upstream of this.#all()) if (upstream.name === name) upstream.adjust(config);
      } else this.#shared.set(name, this.#create(config, '', earlier && this.#retire(earlier, graceMs)));
    }
    for (const upstream of before.values()) void this.#retire(upstream, graceMs);
  }

  names(): readonly UpstreamName[] {
    return [...this.#shared.keys()];
  }

  /** The one that listings come from and that calls use unless the upstream is shared by session. */
  get(name: UpstreamName): Upstream | undefined {
    return this.#shared.get(name);
  }

  /** What will go wrong with one that nobody has needed yet; undefined where nothing is known, or it is in use. */
  async foreseen(name: UpstreamName): Promise<GatewayError | undefined> {
    const upstream = this.#shared.get(name);
    return upstream?.state.at === 'idle' ? this.#deps.foresee?.(upstream.config) : undefined;
  }

  /** The one that serves this session; where callers sign in by themselves, none is ever that of another caller. */
  forSession(name: UpstreamName, session: string, caller?: Caller): Upstream | undefined {
    const shared = this.#shared.get(name);
    const share = shared?.config.share;
    const as = this.signedIn(name, caller);
    if (shared === undefined || share !== 'session') return this.with(as);
    // A session belongs to one caller for as long as it lives.
    const own = ownOf(this.#ofSessions, session);
    let upstream = own.get(name);
    if (upstream === undefined || upstream.state.at === 'idle') this.#makeRoom(shared);
    if (upstream === undefined)
      own.set(name, (upstream = this.#create(shared.config, as.signedInAs, undefined, session)));
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

  /** Of all processes that run for it, those of sessions and callers included. */
  pids(name: UpstreamName): readonly number[] {
    return this.#all().flatMap((upstream) => (upstream.name === name ? (upstream.pid ?? []) : []));
  }

  /** Whether any connection to it stands, those of sessions and callers included. */
  isOpen(name: UpstreamName): boolean {
    return this.#all().some((upstream) => upstream.name === name && upstream.state.at === 'ready');
  }

  wantLogs(level: string): void {
    this.#logLevel = moreVerbose(level, this.#logLevel);
    for (const upstream of this.#all()) upstream.wantLogs(this.#logLevel);
  }

  /** Replaces it, with its sessions' ones, by one that knows of no failure; calls in flight end. */
  async restart(name: UpstreamName): Promise<void> {
    const shared = this.#shared.get(name);
    if (shared === undefined) return;
    this.add(shared.config);
    const ended = [shared, ...this.#taken(name)];
    await Promise.all(ended.map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  async endSession(session: string): Promise<void> {
    const own = this.#ofSessions.get(session);
    this.#ofSessions.delete(session);
    if (own !== undefined)
      await Promise.all([...own.values()].map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#all(), ...this.#leaving.keys()];
    await Promise.all([...all.map((upstream) => upstream[Symbol.asyncDispose]()), ...this.#leaving.values()]);
  }

  /** Those of sessions and callers, which have none of this server afterwards. */
  #taken(name: UpstreamName): readonly Upstream[] {
    return [...this.#ofSessions.values(), ...this.#ofCallers.values()].flatMap((own) => {
      const upstream = own.get(name);
      own.delete(name);
      return upstream ?? [];
    });
  }

  /** Ends it and those of sessions and callers; resolves when that is done, or a successor need not wait any longer. */
  async #retire(shared: Upstream, graceMs: number): Promise<void> {
    const { log } = this.#deps;
    const leaving = [shared, ...this.#taken(shared.name)];
    const endings = leaving.map((upstream) => {
      const ended = upstream
        .retire()
        .catch((error: unknown) => log.warn('Cannot end a server.', { reason: String(error) }))
        .finally(() => this.#leaving.delete(upstream));
      this.#leaving.set(upstream, ended);
      return ended;
    });
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([Promise.all(endings), patience]);
    clearTimeout(timer);
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

  /** With `after`, nothing of it is started before; with `session`, it is that of one session. */
  #create(config: UpstreamConfig, signedInAs = '', after?: Promise<void>, session?: string): Upstream {
    const { name } = config;
    const { open } = this.#deps;
    const upstream = new Upstream(config, {
      ...this.#deps,
      open: async (of, how) => {
        await after;
        return open(of, session === undefined ? how : { ...how, session });
      },
      credentials: this.#deps.credentialsFor?.(config, signedInAs),
      onState: (state) => this.events.emit('state', { name, state }),
      onListChanged: () => this.events.emit('listChanged', { name }),
      onNews: (params) => this.events.emit('news', { name, signedInAs, params }),
      outside: () => this.#outside(name),
      owned: new OwnedIds(),
      isOfSession: session !== undefined,
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
