import type { UpstreamConfig } from '../config/config.ts';
import { Emitter } from '../core/lib/emitter.ts';
import { signInOwner } from '../core/caller.ts';
import type { Caller } from '../core/caller.ts';
import type { RequestingClient } from '../core/requesting-client.ts';
import type { Credentials } from '../core/credentials.ts';
import { GatewayError } from '../core/errors.ts';
import type { UpstreamName } from '../core/ids.ts';
import type { JsonObject } from '../core/json.ts';
import { pickMoreVerbose } from '../core/log-level.ts';
import type { Logger } from '../observability/log.ts';
import type { ClientIdentity, EraCache } from './connecting/negotiate.ts';
import type { OpenServer } from './server-opener.ts';
import { passedCapabilities } from './declared-capabilities.ts';
import type { DeclaredCapabilities } from './declared-capabilities.ts';
import { IdOwners } from './id-owners.ts';
import type { UpstreamState } from './upstream-state.ts';
import { Upstream } from './upstream.ts';

/** Identifies an upstream by server and sign-in; an empty `signedInAs` means the sign-in that all callers share. */
export interface UpstreamSignIn {
  readonly name: UpstreamName;
  readonly signedInAs: string;
}

interface PoolEvents {
  state: { readonly name: UpstreamName; readonly state: UpstreamState };
  listChanged: { readonly name: UpstreamName };
  /** A notification about a resource or a task. */
  update: UpstreamSignIn & { readonly params: JsonObject };
}

interface PoolDeps {
  readonly open: OpenServer;
  /** Returns the error that opening a server would cause, if it is known in advance. */
  readonly preflightCheck?: ((config: UpstreamConfig) => Promise<GatewayError | undefined>) | undefined;
  readonly identity: ClientIdentity;
  /** The capabilities of all clients so far, for the shared servers; absent if the capabilities in `identity` never change. */
  readonly declared?: DeclaredCapabilities | undefined;
  readonly eras: EraCache;
  /** Creates the credentials for a server; `caller` is empty unless each caller signs in separately. */
  readonly credentialsFor?: (config: UpstreamConfig, caller: string) => Credentials | undefined;
  /** Whether failed connections are repeated in the background; the default is true. */
  readonly isRetrying?: boolean | undefined;
  readonly log: Logger;
  readonly now: () => number;
}

interface CreateOptions {
  readonly signedInAs?: string;
  /** The upstream opens no connection before this resolves. */
  readonly after?: Promise<void> | undefined;
  /** The only session that the upstream serves; absent if it serves several. */
  readonly session?: string;
  /** The client of that session. */
  readonly client?: RequestingClient | undefined;
}

/** Owns all upstreams: one per server for all clients, and more per session or caller if configured. */
export class UpstreamPool implements AsyncDisposable {
  readonly events: Emitter<PoolEvents>;
  readonly #deps: PoolDeps;
  readonly #shared = new Map<UpstreamName, Upstream>();
  readonly #attachedClients = new Map<UpstreamName, Set<RequestingClient>>();
  /** The time at which a session last used its own upstream; the one with the oldest time is evicted first. */
  readonly #usedAt = new WeakMap<Upstream, number>();
  /** The most verbose level that any client has requested so far. */
  #logLevel: string | undefined;
  readonly #bySession = new Map<string, Map<UpstreamName, Upstream>>();
  readonly #byCaller = new Map<string, Map<UpstreamName, Upstream>>();
  /** Upstreams of removed or changed servers, until their pending requests are answered. */
  readonly #retiring = new Map<Upstream, Promise<void>>();

  constructor(deps: PoolDeps) {
    this.#deps = deps;
    this.events = new Emitter((error) => deps.log.error('A listener failed.', { reason: String(error) }));
  }

  add(config: UpstreamConfig): void {
    this.#shared.set(config.name, this.#create(config));
  }

  /**
   * Replaces the set of servers. Servers that are not in `reopened` keep their connections. For the others, new calls go to a new
   * upstream while the old one answers its pending requests; the new one waits up to `graceMs` for the old one to end.
   */
  apply(
    configs: readonly UpstreamConfig[],
    { reopened, graceMs }: { readonly reopened: readonly UpstreamName[]; readonly graceMs: number },
  ): void {
    const before = new Map(this.#shared);
    // The map is rebuilt, so that `names` returns the servers in the order of the configuration.
    this.#shared.clear();
    for (const config of configs) {
      const { name } = config;
      const previous = before.get(name);
      before.delete(name);
      if (previous !== undefined && !reopened.includes(name)) {
        this.#shared.set(name, previous);
        for (const upstream of this.#all()) if (upstream.name === name) upstream.updateConfig(config);
      } else
        this.#shared.set(name, this.#create(config, { after: previous && this.#retire(previous, graceMs) }));
    }
    for (const upstream of before.values()) void this.#retire(upstream, graceMs);
  }

  names(): readonly UpstreamName[] {
    return [...this.#shared.keys()];
  }

  /** Returns the shared upstream of a server. It fetches the listing. It also serves calls, unless sessions or callers have their own upstream. */
  get(name: UpstreamName): Upstream | undefined {
    return this.#shared.get(name);
  }

  /** Returns the error that opening an unused server would cause; undefined if it is in use or nothing is known. */
  async preflight(name: UpstreamName): Promise<GatewayError | undefined> {
    const upstream = this.#shared.get(name);
    return upstream?.state.kind === 'idle' ? this.#deps.preflightCheck?.(upstream.config) : undefined;
  }

  /** Returns the upstream that serves this session. If each caller signs in separately, callers never share an upstream. */
  forSession(
    name: UpstreamName,
    session: string,
    caller?: Caller,
    client?: RequestingClient,
  ): Upstream | undefined {
    const shared = this.#shared.get(name);
    const signIn = this.signInFor(name, caller);
    if (shared === undefined || shared.config.share !== 'session') return this.getFor(signIn);
    // The key needs no sign-in, because a session belongs to one caller throughout its life.
    const own = getOrCreate(this.#bySession, session);
    let upstream = own.get(name);
    // The limit matters only if the upstream runs no process yet, because it then starts one.
    if (upstream === undefined || upstream.state.kind === 'idle') this.#enforceSessionLimit(shared);
    if (upstream === undefined)
      own.set(
        name,
        (upstream = this.#create(shared.config, { signedInAs: signIn.signedInAs, session, client })),
      );
    this.#usedAt.set(upstream, this.#deps.now());
    return upstream;
  }

  /** Returns the sign-in that requests of this caller use. */
  signInFor(name: UpstreamName, caller?: Caller): UpstreamSignIn {
    const isPerCaller = this.#shared.get(name)?.config.auth?.per === 'caller';
    return { name, signedInAs: isPerCaller && caller !== undefined ? signInOwner(caller) : '' };
  }

  /** Returns the upstream with this sign-in, for requests that belong to no session. */
  getFor({ name, signedInAs }: UpstreamSignIn): Upstream | undefined {
    const shared = this.#shared.get(name);
    if (shared === undefined || signedInAs === '') return shared;
    const own = getOrCreate(this.#byCaller, signedInAs);
    let upstream = own.get(name);
    if (upstream === undefined) own.set(name, (upstream = this.#create(shared.config, { signedInAs })));
    return upstream;
  }

  /** Returns the process ids of a server, including those of the upstreams of sessions and callers. */
  pids(name: UpstreamName): readonly number[] {
    return this.#all().flatMap((upstream) => (upstream.name === name ? (upstream.pid ?? []) : []));
  }

  /** Returns whether any connection to a server is open, including those of sessions and callers. */
  isOpen(name: UpstreamName): boolean {
    return this.#all().some((upstream) => upstream.name === name && upstream.state.kind === 'ready');
  }

  raiseLogLevel(level: string): void {
    this.#logLevel = pickMoreVerbose(level, this.#logLevel);
    for (const upstream of this.#all()) upstream.raiseLogLevel(this.#logLevel);
  }

  /** Records the capabilities of a client, and reconnects unused servers to which too few capabilities were declared. */
  declare(capabilities: JsonObject): void {
    const { declared } = this.#deps;
    if (declared?.add(capabilities) !== true) return;
    // The upstream of a session declares only the capabilities of the client of that session.
    for (const upstreams of [this.#shared, ...this.#byCaller.values()])
      for (const upstream of upstreams.values()) upstream.reopenIfUnused(declared.capabilities);
  }

  /** Replaces all upstreams of a server by a new shared one with no recorded failures; calls in flight fail. */
  async restart(name: UpstreamName): Promise<void> {
    const shared = this.#shared.get(name);
    if (shared === undefined) return;
    this.add(shared.config);
    const replaced = [shared, ...this.#removeOwned(name)];
    await Promise.all(replaced.map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  async endSession(session: string): Promise<void> {
    const own = this.#bySession.get(session);
    this.#bySession.delete(session);
    if (own !== undefined)
      await Promise.all([...own.values()].map((upstream) => upstream[Symbol.asyncDispose]()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#all(), ...this.#retiring.keys()];
    await Promise.all([
      ...all.map((upstream) => upstream[Symbol.asyncDispose]()),
      ...this.#retiring.values(),
    ]);
  }

  /** Removes and returns the upstreams of sessions and callers for a server. */
  #removeOwned(name: UpstreamName): readonly Upstream[] {
    return [...this.#bySession.values(), ...this.#byCaller.values()].flatMap((own) => {
      const upstream = own.get(name);
      own.delete(name);
      return upstream ?? [];
    });
  }

  /** Retires all upstreams of a server; resolves when they have ended, but after `graceMs` at the latest. */
  async #retire(shared: Upstream, graceMs: number): Promise<void> {
    const { log } = this.#deps;
    const upstreams = [shared, ...this.#removeOwned(shared.name)];
    const endings = upstreams.map((upstream) => {
      const ended = upstream
        .retire()
        .catch((error: unknown) => log.warn('Cannot stop a server.', { reason: String(error) }))
        .finally(() => this.#retiring.delete(upstream));
      this.#retiring.set(upstream, ended);
      return ended;
    });
    let timer: NodeJS.Timeout | undefined;
    const grace = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
    await Promise.race([Promise.all(endings), grace]);
    clearTimeout(timer);
  }

  /** If `limits.sessions` is reached, stops the process of the session that has been unused for the longest time. */
  #enforceSessionLimit({ name, config }: Upstream): void {
    const bySession = new Map<string, Upstream>();
    for (const [session, own] of this.#bySession) {
      const upstream = own.get(name);
      if (upstream !== undefined) bySession.set(session, upstream);
    }
    const max = config.limits.sessions;
    const usedAt = (upstream: Upstream): number => this.#usedAt.get(upstream) ?? 0;
    const session = pickSessionToEvict(name, { upstreams: bySession, max, usedAt });
    if (session === undefined) return;
    this.#bySession.get(session)?.delete(name);
    const { log } = this.#deps;
    log.info('Stopped the server process of an idle session, because another session needs one.', {
      upstream: name,
      max,
    });
    bySession
      .get(session)
      ?.[Symbol.asyncDispose]()
      .catch((error: unknown) =>
        log.warn('Cannot stop the server process of a session.', { reason: String(error) }),
      );
  }

  /** Attaches a client that uses only this server, so that it receives the messages that the server sends outside of calls. */
  attach(name: UpstreamName, client: RequestingClient): Disposable {
    let attached = this.#attachedClients.get(name);
    if (attached === undefined) this.#attachedClients.set(name, (attached = new Set()));
    attached.add(client);
    return { [Symbol.dispose]: () => void attached.delete(client) };
  }

  /** Returns the attached client; undefined if there are several, because the server does not say which one it means. */
  #attachedClient(name: UpstreamName): RequestingClient | undefined {
    const attached = this.#attachedClients.get(name);
    return attached?.size === 1 ? [...attached][0] : undefined;
  }

  /** Returns the identity for a server: with the capabilities of its only client, or with those of all clients. */
  #identityFor(client: RequestingClient | undefined): ClientIdentity {
    const { identity, declared } = this.#deps;
    if (client === undefined || declared === undefined) return identity;
    const { settled: _, ...own } = identity;
    return { ...own, capabilities: passedCapabilities(client.capabilities) };
  }

  #all(): readonly Upstream[] {
    const all = [this.#shared, ...this.#bySession.values(), ...this.#byCaller.values()];
    return all.flatMap((upstreams) => [...upstreams.values()]);
  }

  #create(config: UpstreamConfig, options: CreateOptions = {}): Upstream {
    const { signedInAs = '', after, session, client } = options;
    const { name } = config;
    const { open } = this.#deps;
    const upstream = new Upstream(config, {
      ...this.#deps,
      identity: this.#identityFor(client),
      open: async (current, openOptions) => {
        await after;
        return open(current, session === undefined ? openOptions : { ...openOptions, session });
      },
      credentials: this.#deps.credentialsFor?.(config, signedInAs),
      onState: (state) => this.events.emit('state', { name, state }),
      onListChanged: () => this.events.emit('listChanged', { name }),
      onUpdate: (params) => this.events.emit('update', { name, signedInAs, params }),
      attachedClient: () => this.#attachedClient(name),
      idOwners: new IdOwners(),
      isOfSession: session !== undefined,
      isRetrying: this.#deps.isRetrying,
    });
    if (this.#logLevel !== undefined) upstream.raiseLogLevel(this.#logLevel);
    return upstream;
  }
}

function getOrCreate(
  owners: Map<string, Map<UpstreamName, Upstream>>,
  owner: string,
): Map<UpstreamName, Upstream> {
  let upstreams = owners.get(owner);
  if (upstreams === undefined) owners.set(owner, (upstreams = new Map<UpstreamName, Upstream>()));
  return upstreams;
}

/** The delay after which a refused client should retry. A short call of another session usually ends within it. */
const RETRY_AFTER_MS = 1000;

/**
 * Returns the session whose process must end before another session can start one: the session that has been unused for the longest
 * time and has no calls in flight. Returns undefined below the limit; throws if all processes are busy.
 */
export function pickSessionToEvict<U extends Pick<Upstream, 'state' | 'inFlight'>>(
  name: UpstreamName,
  options: {
    /** The upstreams of this server by session. */
    readonly upstreams: ReadonlyMap<string, U>;
    readonly max: number;
    readonly usedAt: (upstream: U) => number;
  },
): string | undefined {
  const { upstreams, max, usedAt } = options;
  const running = [...upstreams].filter(([, { state }]) => state.kind !== 'idle');
  if (running.length < max) return undefined;
  const unused = running.filter(([, { inFlight, state }]) => inFlight === 0 && state.kind !== 'connecting');
  const [longest] = unused.toSorted(([, a], [, b]) => usedAt(a) - usedAt(b));
  if (longest !== undefined) return longest[0];
  throw new GatewayError(
    'UPSTREAM_BUSY',
    `All ${max} processes of server "${name}" that sessions may have are busy (limits.sessions). Try again in a second, or raise the limit.`,
    { details: { upstream: name, retryAfterMs: RETRY_AFTER_MS } },
  );
}
