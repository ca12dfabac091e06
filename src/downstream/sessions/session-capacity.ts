import type { Caller } from '../../core/caller.ts';
import type { Logger } from '../../observability/log.ts';
import type { Session } from './session.ts';

interface CapacityOptions extends EvictionOptions {
  /** Returns whether callers are authenticated. If so, each of them can have only its share of the sessions. */
  readonly isAuthenticated?: (() => boolean) | undefined;
}

/** An authenticated caller can have at most one in `SHARES` of all sessions. */
const SHARES = 4;

/** Limits the number of sessions, and chooses the session to evict when the limit is reached. */
export class SessionCapacity {
  readonly #sessions: ReadonlyMap<string, Session>;
  /** The number of sessions of each caller. */
  readonly #counts = new Map<string, number>();
  readonly #evictions = new Evictions();

  constructor(sessions: ReadonlyMap<string, Session>) {
    this.#sessions = sessions;
  }

  add({ caller: { id } }: Session): void {
    this.#counts.set(id, this.#countOf(id) + 1);
  }

  remove({ caller: { id } }: Session): void {
    const count = this.#countOf(id) - 1;
    if (count === 0) this.#counts.delete(id);
    else this.#counts.set(id, count);
  }

  /**
   * Returns `free` if a session can be opened, the session that must end first if the limit is reached, or `full` if none can end. A
   * caller that has used up its share can evict only its own sessions.
   */
  makeRoomFor({ id }: Caller, options: CapacityOptions): 'free' | 'full' | Session {
    const { maxSessions, isAuthenticated } = options;
    if (isAuthenticated?.() === true && this.#countOf(id) >= Math.ceil(maxSessions / SHARES)) {
      const own = [...this.#sessions.values()].filter(({ caller }) => caller.id === id);
      return this.#evictions.nextOf(own, options) ?? 'full';
    }
    if (this.#sessions.size < maxSessions) return 'free';
    return this.#evictions.next(this.#sessions, options) ?? 'full';
  }

  #countOf(caller: string): number {
    return this.#counts.get(caller) ?? 0;
  }
}

interface EvictionOptions {
  readonly log: Logger;
  readonly now: () => number;
  readonly maxSessions: number;
}

interface IdleSession {
  readonly session: Session;
  readonly usedAt: number;
}

/** The minimum interval between two log messages. */
const LOG_INTERVAL_MS = 10_000;
/** The number of candidates that one search over all sessions collects. Collecting several avoids a search for every handshake. */
const CANDIDATES = 64;

/**
 * Chooses the session that has been idle for the longest time. If clients never end their sessions, every handshake evicts one.
 * Therefore at most one log entry is written per interval, with the number of evictions since the last entry.
 */
export class Evictions {
  /** The longest idle sessions at the last search, the longest idle one last. The order still holds for those not used since. */
  readonly #candidates: IdleSession[] = [];
  #loggedAt = -Infinity;
  #count = 0;

  /** Returns the longest idle session of all, or undefined if all are in use. */
  next(all: ReadonlyMap<string, Session>, options: EvictionOptions): Session | undefined {
    for (let found = this.#candidates.pop(); found !== undefined; found = this.#candidates.pop()) {
      const { session, usedAt } = found;
      if (all.get(session.id) === session && session.usedAt === usedAt && !session.isBusy)
        return this.#log(session, options);
    }
    this.#candidates.push(...longestIdle(all.values(), CANDIDATES));
    return this.#log(this.#candidates.pop()?.session, options);
  }

  /** Returns the session that was idle longest among `some`, without using the candidates. */
  nextOf(some: Iterable<Session>, options: EvictionOptions): Session | undefined {
    return this.#log(longestIdle(some, 1)[0]?.session, options);
  }

  #log(evicted: Session | undefined, { log, now, maxSessions }: EvictionOptions): Session | undefined {
    if (evicted === undefined) return undefined;
    this.#count++;
    if (now() - this.#loggedAt < LOG_INTERVAL_MS) return evicted;
    log.info('Evicted the longest idle sessions, since http.maxSessions was reached.', {
      maxSessions,
      count: this.#count,
    });
    this.#loggedAt = now();
    this.#count = 0;
    return evicted;
  }
}

/** Returns up to `count` sessions that have been idle for the longest time, the longest last. */
function longestIdle(sessions: Iterable<Session>, count: number): readonly IdleSession[] {
  const idle: IdleSession[] = [];
  for (const session of sessions) if (!session.isBusy) idle.push({ session, usedAt: session.usedAt });
  return idle.sort((one, other) => other.usedAt - one.usedAt).slice(-count);
}
