import { isSameCaller } from '../../core/caller.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import { SessionRelay } from './replicas/session-relay.ts';
import type { SessionRelayDeps } from './replicas/session-relay.ts';
import type { ConnectSession, SessionStore, SessionUpdate, StoredSession } from './session-store.ts';
import { SESSION_LIFETIME_MS, SealedIds } from './sealed-ids.ts';
import type { SessionBinding } from './sealed-ids.ts';
import { Session } from './session.ts';
import type { SessionFacts } from './session-facts.ts';
import { SessionCapacity } from './session-capacity.ts';
import { DEFAULT_CLIENT_SETTINGS } from './client-settings.ts';
import type { ClientSettings } from './client-settings.ts';

/** The dependencies that let sessions survive the process and be served by several replicas. */
export interface SessionPersistence {
  /** Loads the secret that seals session ids; without it, sessions end with this process. */
  readonly sessionSecret?: (() => Promise<Buffer>) | undefined;
  readonly sessionStore?: SessionStore | undefined;
  /** Absent if this gateway has no other replicas. */
  readonly replicas?: Pick<SessionRelayDeps, 'replicas' | 'locations'> | undefined;
}

export function openSessions(
  { sessionSecret: secret, sessionStore: store, replicas }: SessionPersistence,
  options: Omit<SessionsOptions, 'ids' | 'store' | 'relay'>,
): Sessions {
  const { now, log } = options;
  return new Sessions({
    ...options,
    ids: new SealedIds({ secret, now }),
    store,
    relay: replicas && ((local) => new SessionRelay({ ...replicas, ...local, log })),
  });
}

interface SessionsOptions {
  readonly connect: ConnectSession;
  readonly ids: SealedIds;
  /** Absent if sessions end with the process. */
  readonly store?: SessionStore | undefined;
  /** Creates the connection to the other replicas that can serve the same sessions. */
  readonly relay?:
    | ((local: Pick<SessionRelayDeps, 'findSession' | 'reloadSettings'>) => SessionRelay)
    | undefined;
  readonly maxSessions: number;
  /** Returns whether callers are authenticated. If so, each of them can have only its share of the sessions. */
  readonly isAuthenticated?: (() => boolean) | undefined;
  readonly idleMs: number;
  /** Maximum time that a request waits for the client to resume its broken stream. */
  readonly resumeMs: number;
  readonly now: () => number;
  readonly log: Logger;
}

/** The session, `unknown` if the caller has no such session, or `busy` if there is no room to restore it. */
export type SessionLookup = Session | 'unknown' | 'busy';

/** The maximum number of ended sessions that are remembered. */
const MAX_ENDED = 1000;

/** The sessions that this replica serves now. An evicted or idle session is restored when its client sends the session id again. */
export class Sessions {
  readonly relay: SessionRelay | undefined;
  #options: SessionsOptions;
  readonly #sessions = new Map<string, Session>();
  /** Sessions by their sealed ids, which avoids unsealing the id for every request. */
  readonly #byPublicId = new Map<string, Session>();
  /** Restorations in progress by sealed id, so that concurrent requests restore a session only once. */
  readonly #restoring = new Map<string, Promise<SessionLookup>>();
  /** The sessions that ended most recently. The store is not read for them. */
  readonly #ended = new Set<string>();
  /** Sessions that were restored while the store could not be read; their settings are loaded later. */
  readonly #withoutSettings = new Set<Session>();
  readonly #capacity = new SessionCapacity(this.#sessions);
  #evicted: GatewayError | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.relay = options.relay?.({
      findSession: (id) => this.#sessions.get(id),
      reloadSettings: (session) => this.#reloadSettings(session),
    });
    options.store?.onUpdate?.((updates) => this.#applyUpdates(updates));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Returns undefined if session ids can be created and read, else a promise that resolves when they can. */
  ready(): Promise<void> | undefined {
    return this.#options.ids.ready();
  }

  /** Opens a session. Returns undefined if the session limit, or the caller's share of it, is reached and no session can be evicted. */
  open(caller: Caller, path: string): Session | undefined {
    return this.#makeRoom(caller) ? this.#create({ caller, path }) : undefined;
  }

  /** Opens an HTTP+SSE session, which ends with its stream and cannot be restored or served by another replica. */
  openStream(caller: Caller, path: string): Session | undefined {
    if (!this.#makeRoom(caller)) return undefined;
    const { connect, resumeMs, now, log } = this.#options;
    return this.#add(
      new Session((channel) => connect({ caller, channel, transport: 'http', path }), {
        caller,
        path,
        resumeMs,
        now,
        log,
      }),
    );
  }

  /** Returns the sealed id of a session, which its client must send with every request. Throws before `initialize` has succeeded. */
  idOf(session: Session): string {
    const { facts } = session;
    if (facts === undefined) throw new Error('The session is not open yet.');
    const id = this.#options.ids.seal(facts, session);
    if (this.#sessions.has(session.id)) this.#addPublicId(id, session);
    return id;
  }

  /** Finds the session with this sealed id, synchronously if it is served here. Only its own caller can find it, at the same path. */
  find(id: string, binding: SessionBinding): SessionLookup | Promise<SessionLookup> {
    const known = this.#byPublicId.get(id);
    if (known !== undefined) return this.#check(known, binding);
    const ready = this.ready();
    return ready === undefined ? this.#restore(id, binding) : ready.then(() => this.#restore(id, binding));
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** Stops serving a session at this replica; its client can restore it by sending its id. */
  stopServing(session: Session, reason: GatewayError): void {
    if (!this.#sessions.delete(session.id)) return;
    this.#capacity.remove(session);
    this.#withoutSettings.delete(session);
    for (const id of session.publicIds) this.#byPublicId.delete(id);
    session.end(reason);
  }

  /** Ends a session permanently, at every replica. */
  async endPermanently(session: Session, reason: GatewayError): Promise<void> {
    this.#rememberEnded(session.id);
    this.stopServing(session, reason);
    const saved = this.#options.store?.markEnded(session.id, this.#expiryOf(session));
    await saved?.catch((error: unknown) => this.#logUnsaved('end', error));
  }

  /** Ends all sessions of a caller permanently, after its credentials were revoked. */
  endCaller(caller: string, reason: GatewayError): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.caller.id !== caller) continue;
      this.#rememberEnded(session.id);
      this.stopServing(session, reason);
    }
    const { store, now } = this.#options;
    const saved = store?.markCallerEnded(caller, now() + SESSION_LIFETIME_MS);
    saved?.catch((error: unknown) => this.#logUnsaved('end', error));
  }

  /** Applies other limits. Open sessions stay open even if they exceed the new limit. */
  applyLimits(limits: Pick<SessionsOptions, 'maxSessions' | 'idleMs'>): void {
    this.#options = { ...this.#options, ...limits };
  }

  endAll(reason: GatewayError): void {
    for (const session of [...this.#sessions.values()]) this.stopServing(session, reason);
  }

  endIdle(): void {
    const { idleMs, now, log } = this.#options;
    for (const session of [...this.#sessions.values()]) {
      if (session.isBusy || session.usedAt > now() - idleMs) continue;
      log.debug('Dropped an idle session; its client can restore it.');
      this.stopServing(session, new GatewayError('CALL_CANCELLED', 'The session was idle for too long.'));
    }
  }

  #check(session: Session, { caller, path }: SessionBinding): SessionLookup {
    const { issuedAt = 0 } = session.facts ?? {};
    if (session.path !== path || !isSameCaller(session.caller, caller)) return 'unknown';
    if (issuedAt > this.#options.now() - SESSION_LIFETIME_MS) return session;
    this.stopServing(
      session,
      new GatewayError('CALL_CANCELLED', 'The session has expired; start with initialize.'),
    );
    return 'unknown';
  }

  #restore(id: string, binding: SessionBinding): SessionLookup | Promise<SessionLookup> {
    const pending = this.#restoring.get(id);
    if (pending !== undefined)
      return pending.then((found) => (typeof found === 'string' ? found : this.#check(found, binding)));
    const facts = this.#options.ids.open(id, binding);
    if (facts === undefined || this.#ended.has(facts.id)) return 'unknown';
    // The session may be served here already under another sealed id, since every sealing produces a different text.
    const served = this.#sessions.get(facts.id);
    if (served !== undefined) {
      this.#addPublicId(id, served);
      return this.#check(served, binding);
    }
    const restoring = this.#restoreSettings(id, facts, binding).finally(() => this.#restoring.delete(id));
    this.#restoring.set(id, restoring);
    return restoring;
  }

  async #restoreSettings(id: string, facts: SessionFacts, binding: SessionBinding): Promise<SessionLookup> {
    const [settings, streamReplica] = await Promise.all([
      this.#readSettings(facts, binding.caller),
      this.relay?.findStream(facts.id),
    ]);
    if (settings === 'ended') {
      this.#rememberEnded(facts.id);
      return 'unknown';
    }
    // The session may have ended while the settings were read.
    if (this.#ended.has(facts.id)) return 'unknown';
    if (!this.#makeRoom(binding.caller)) return 'busy';
    const session = this.#create(binding, { facts, state: settings ?? DEFAULT_CLIENT_SETTINGS });
    this.#addPublicId(id, session);
    session.moveStream(streamReplica);
    if (settings === undefined) this.#withoutSettings.add(session);
    else await session.adopt(settings);
    return session;
  }

  /** Resolves with undefined if the store cannot be read now; the client is then served with default settings. */
  async #readSettings(
    { id, issuedAt }: SessionFacts,
    caller: Caller,
  ): Promise<ClientSettings | 'ended' | undefined> {
    const { store, log } = this.#options;
    if (store === undefined) return DEFAULT_CLIENT_SETTINGS;
    try {
      return (await store.read({ id, issuedAt, caller: caller.id })) ?? DEFAULT_CLIENT_SETTINGS;
    } catch (error) {
      log.warn('The settings of a session cannot be read now.', { reason: String(error) });
      return undefined;
    }
  }

  #applyUpdates(updates: readonly SessionUpdate[]): void {
    for (const { id, state } of updates) {
      const session = this.#sessions.get(id);
      if (state === 'ended') this.#rememberEnded(id);
      if (session !== undefined) void this.#applySettings(session, state);
    }
    for (const session of this.#withoutSettings) void this.#reloadSettings(session);
  }

  async #reloadSettings(session: Session): Promise<void> {
    const { facts } = session;
    const settings = facts && (await this.#readSettings(facts, session.caller));
    if (settings === undefined) return;
    this.#withoutSettings.delete(session);
    await this.#applySettings(session, settings);
  }

  async #applySettings(session: Session, settings: ClientSettings | 'ended'): Promise<void> {
    if (settings !== 'ended') return session.adopt(settings);
    this.stopServing(session, new GatewayError('CALL_CANCELLED', 'The client ended the session.'));
  }

  /** Logs a failed write: a warning if other replicas miss the change, else a debug message, since the change is in effect here. */
  #logUnsaved(what: 'change' | 'end', error: unknown): void {
    const { log } = this.#options;
    const text = 'A change of a session could not be saved for other replicas and for the next start.';
    log[this.relay === undefined ? 'debug' : 'warn'](text, { what, reason: String(error) });
  }

  #rememberEnded(id: string): void {
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  #create(binding: SessionBinding, restored?: StoredSession['restored']): Session {
    const { connect, resumeMs, now, log } = this.#options;
    const { caller, path } = binding;
    return this.#add(
      new Session(
        (session) => {
          const saveChange: StoredSession['saveChange'] = (change) => this.#saveChange(session, change);
          const stored = { id: session.id, restored, saveChange };
          return connect({ caller, channel: session, transport: 'http', path, stored });
        },
        { caller, path, relay: this.relay, facts: restored?.facts, resumeMs, now, log },
      ),
    );
  }

  async #saveChange(session: Session, change: Parameters<StoredSession['saveChange']>[0]): Promise<void> {
    const saved = this.#options.store
      ?.saveChange(session.id, change, this.#expiryOf(session))
      .catch((error: unknown) => this.#logUnsaved('change', error));
    // Without other replicas, the client need not wait until the change is stored.
    if (this.relay === undefined) return;
    await saved;
    await this.relay.settingsChanged(session);
  }

  #add(session: Session): Session {
    this.#sessions.set(session.id, session);
    this.#capacity.add(session);
    return session;
  }

  #addPublicId(id: string, session: Session): void {
    this.#byPublicId.set(id, session);
    session.publicIds.push(id);
  }

  #expiryOf({ facts }: Session): number {
    return (facts?.issuedAt ?? this.#options.now()) + SESSION_LIFETIME_MS;
  }

  #makeRoom(caller: Caller): boolean {
    const room = this.#capacity.makeRoomFor(caller, this.#options);
    if (typeof room === 'string') return room === 'free';
    // All evictions share one error object, because its stack trace is expensive and an idle session has no request that reports it.
    this.#evicted ??= new GatewayError('CALL_CANCELLED', 'The session was evicted to make room for another.');
    this.stopServing(room, this.#evicted);
    return true;
  }
}
