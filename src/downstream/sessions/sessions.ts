import { isSameCaller } from '../../model/caller.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { Connect, KeptSession, SessionMemory, SessionNews } from './kept-session.ts';
import { SESSION_MS } from './sealed-ids.ts';
import type { Bound, SealedIds } from './sealed-ids.ts';
import { Session } from './session.ts';
import type { SessionFacts } from './session-facts.ts';
import { SessionRoom } from './session-room.ts';
import type { LineDeps, SessionLine } from './between/session-line.ts';
import { NEW_SESSION } from './session-state.ts';
import type { SessionState } from './session-state.ts';

export interface SessionOptions {
  readonly connect: Connect;
  readonly ids: SealedIds;
  /** Absent where sessions do not outlive the process. */
  readonly memory?: SessionMemory | undefined;
  /** To others that may serve the same sessions. */
  readonly line?: ((here: Pick<LineDeps, 'served' | 'reread'>) => SessionLine) | undefined;
  /** How many are served at a time. */
  readonly maxSessions: number;
  /** Whether callers can be told apart; then none of them has more than its share. */
  readonly isShared?: () => boolean;
  readonly idleMs: number;
  /** How long a request waits for a client whose stream broke. */
  readonly resumeMs: number;
  readonly now: () => number;
  readonly log: Logger;
}

/** There is none for whoever asks, or there is no room to serve it. */
export type Found = Session | 'unknown' | 'busy';

const MAX_ENDED = 1000;

/** The sessions that are served here now, bounded in number and in idleness. One that is let go of is taken up again when its id is shown. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();
  /** By the ids that clients show. */
  readonly #shown = new Map<string, Session>();
  readonly #returning = new Map<string, Promise<Found>>();
  /** Lately, so that nobody is asked about them again. */
  readonly #ended = new Set<string>();
  /** Taken up while nobody could say what their clients had set. */
  readonly #unread = new Set<Session>();
  readonly line: SessionLine | undefined;
  #options: SessionOptions;
  readonly #room = new SessionRoom(this.#sessions);
  #crowdedOut: GatewayError | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.line = options.line?.({
      served: (id) => this.#sessions.get(id),
      reread: (session) => this.#reread(session),
    });
    options.memory?.follow?.((news) => this.#heard(news));
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** A promise until ids can be given and read. */
  ready(): Promise<void> | undefined {
    return this.#options.ids.ready();
  }

  /** Undefined when all places, or the caller's share of them, are taken by sessions in use. */
  open(caller: Caller, path: string): Session | undefined {
    return this.#hasRoom(caller) ? this.#make({ caller, path }) : undefined;
  }

  /** One that lives as long as its stream, and is served here only. */
  openStream(caller: Caller, path: string): Session | undefined {
    if (!this.#hasRoom(caller)) return undefined;
    const { connect, resumeMs, now, log } = this.#options;
    return this.#add(
      new Session((channel) => connect({ caller, channel, transport: 'http', path }), {
        ...{ caller, path, resumeMs, now, log },
      }),
    );
  }

  /** What a client is told when its session is open, and shows from then on. */
  idOf(session: Session): string {
    const { facts } = session;
    if (facts === undefined) throw new Error('The session is not open yet.');
    const id = this.#options.ids.seal(facts, session);
    if (this.#sessions.has(session.id)) this.#show(id, session);
    return id;
  }

  /** The session with this id; at once when it is served here already. To everybody but the caller who opened it there is none. */
  find(id: string, bound: Bound): Found | Promise<Found> {
    const known = this.#shown.get(id);
    if (known !== undefined) return this.#own(known, bound);
    const waiting = this.ready();
    return waiting === undefined ? this.#return(id, bound) : waiting.then(() => this.#return(id, bound));
  }

  /** By what is the same everywhere, where it is served here. */
  served(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  /** Stops serving it here. Its client may come back. */
  end(session: Session, reason: GatewayError): void {
    if (!this.#sessions.delete(session.id)) return;
    this.#room.left(session);
    this.#unread.delete(session);
    for (const id of session.shownAs) this.#shown.delete(id);
    session.end(reason);
  }

  /** It is over, here and everywhere. */
  async finish(session: Session, reason: GatewayError): Promise<void> {
    this.#noteEnd(session.id);
    this.end(session, reason);
    const written = this.#options.memory?.end(session.id, this.#expiryOf(session));
    await written?.catch((error: unknown) => this.#unwritten('end', error));
  }

  /** Of a caller who may not come in any more. */
  endOf(caller: string, reason: GatewayError): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.caller.id !== caller) continue;
      this.#noteEnd(session.id);
      this.end(session, reason);
    }
    const { memory, now } = this.#options;
    const written = memory?.endOf(caller, now() + SESSION_MS);
    written?.catch((error: unknown) => this.#unwritten('end', error));
  }

  /** Sessions that are open already stay, however many they are. */
  adjust(limits: Pick<SessionOptions, 'maxSessions' | 'idleMs'>): void {
    this.#options = { ...this.#options, ...limits };
  }

  endAll(reason: GatewayError): void {
    for (const session of [...this.#sessions.values()]) this.end(session, reason);
  }

  sweep(): void {
    const { idleMs, now, log } = this.#options;
    for (const session of [...this.#sessions.values()]) {
      if (session.isBusy || session.usedAt > now() - idleMs) continue;
      log.debug('A session was idle for too long and is let go of until its client comes back.');
      this.end(session, new GatewayError('CALL_CANCELLED', 'The session was idle for too long.'));
    }
  }

  #own(session: Session, { caller, path }: Bound): Found {
    const { issuedAt = 0 } = session.facts ?? {};
    if (session.path !== path || !isSameCaller(session.caller, caller)) return 'unknown';
    if (issuedAt > this.#options.now() - SESSION_MS) return session;
    this.end(session, new GatewayError('CALL_CANCELLED', 'The session is over; begin with initialize.'));
    return 'unknown';
  }

  #return(id: string, bound: Bound): Found | Promise<Found> {
    const underWay = this.#returning.get(id);
    if (underWay !== undefined)
      return underWay.then((found) => (typeof found === 'string' ? found : this.#own(found, bound)));
    const facts = this.#options.ids.open(id, bound);
    if (facts === undefined || this.#ended.has(facts.id)) return 'unknown';
    // Served here already, under an id that was sealed elsewhere or anew.
    const served = this.#sessions.get(facts.id);
    if (served !== undefined) {
      this.#show(id, served);
      return this.#own(served, bound);
    }
    const returning = this.#takeUp(id, facts, bound).finally(() => this.#returning.delete(id));
    this.#returning.set(id, returning);
    return returning;
  }

  async #takeUp(id: string, facts: SessionFacts, bound: Bound): Promise<Found> {
    const [state, holder] = await Promise.all([
      this.#read(facts, bound.caller),
      this.line?.whereStream(facts.id),
    ]);
    if (state === 'ended') {
      this.#noteEnd(facts.id);
      return 'unknown';
    }
    if (this.#ended.has(facts.id)) return 'unknown';
    if (!this.#hasRoom(bound.caller)) return 'busy';
    const session = this.#make(bound, { facts, state: state ?? NEW_SESSION });
    this.#show(id, session);
    session.movedTo(holder);
    if (state === undefined) this.#unread.add(session);
    else await session.adopt(state);
    return session;
  }

  /** Undefined when nobody can say it now; the client is served nevertheless. */
  async #read({ id, issuedAt }: SessionFacts, caller: Caller): Promise<SessionState | 'ended' | undefined> {
    const { memory, log } = this.#options;
    if (memory === undefined) return NEW_SESSION;
    try {
      return (await memory.read({ id, issuedAt, caller: caller.id })) ?? NEW_SESSION;
    } catch (error) {
      log.warn('What was set in a session cannot be read now.', { reason: String(error) });
      return undefined;
    }
  }

  #heard(news: readonly SessionNews[]): void {
    for (const { id, state } of news) {
      const session = this.#sessions.get(id);
      if (state === 'ended') this.#noteEnd(id);
      if (session !== undefined) void this.#adopt(session, state);
    }
    for (const session of this.#unread) void this.#reread(session);
  }

  async #reread(session: Session): Promise<void> {
    const { facts } = session;
    const state = facts && (await this.#read(facts, session.caller));
    if (state === undefined) return;
    this.#unread.delete(session);
    await this.#adopt(session, state);
  }

  async #adopt(session: Session, state: SessionState | 'ended'): Promise<void> {
    if (state !== 'ended') return session.adopt(state);
    this.end(session, new GatewayError('CALL_CANCELLED', 'The client ended the session.'));
  }

  /** It holds here, and the client need not know; for others it matters. */
  #unwritten(what: 'change' | 'end', error: unknown): void {
    const { log } = this.#options;
    const text = 'What happened to a session is not known to others, nor after a restart.';
    log[this.line === undefined ? 'debug' : 'warn'](text, { what, reason: String(error) });
  }

  #noteEnd(id: string): void {
    this.#ended.add(id);
    const [oldest] = this.#ended;
    if (this.#ended.size > MAX_ENDED && oldest !== undefined) this.#ended.delete(oldest);
  }

  #make(bound: Bound, before?: KeptSession['before']): Session {
    const { connect, resumeMs, now, log, memory } = this.#options;
    const { caller, path } = bound;
    return this.#add(
      new Session(
        (session) => {
          const change: KeptSession['change'] = async (what) => {
            const written = memory?.change(session.id, what, this.#expiryOf(session));
            const known = written?.catch((error: unknown) => this.#unwritten('change', error));
            // Only somebody else has to read it at once.
            if (this.line === undefined) return;
            await known;
            await this.line.changed(session);
          };
          const kept = { id: session.id, ...(before && { before }), change };
          return connect({ caller, channel: session, transport: 'http', path, kept });
        },
        { caller, path, line: this.line, facts: before?.facts, resumeMs, now, log },
      ),
    );
  }

  #add(session: Session): Session {
    this.#sessions.set(session.id, session);
    this.#room.entered(session);
    return session;
  }

  #show(id: string, session: Session): void {
    this.#shown.set(id, session);
    session.shownAs.push(id);
  }

  #expiryOf({ facts }: Session): number {
    return (facts?.issuedAt ?? this.#options.now()) + SESSION_MS;
  }

  #hasRoom(caller: Caller): boolean {
    const leaving = this.#room.for(caller, this.#options);
    if (typeof leaving === 'string') return leaving === 'free';
    // One for all: nobody waits in an idle session, and the trace of an error costs more than the rest.
    this.#crowdedOut ??= new GatewayError('CALL_CANCELLED', 'The session was let go of to make room.');
    this.end(leaving, this.#crowdedOut);
    return true;
  }
}
