import type { Logger } from '../../observe/log.ts';
import type { Session } from './session.ts';

const PAUSE_MS = 10_000;
/** Found at once, so that not every handshake goes through all sessions. */
const FOUND_AT_ONCE = 64;

interface Idle {
  readonly session: Session;
  readonly usedAt: number;
}

/**
 * Which session makes room for another one. Where clients come and go without ending theirs one does with every handshake, so that it is
 * said the first time at once, then at most so often, with how many there were.
 */
export class Evictions {
  /** The longest idle of all, the longest last. What nobody used since is still that. */
  readonly #idle: Idle[] = [];
  #saidAt = -Infinity;
  #count = 0;

  /** The longest idle one of all; undefined where all are in use. */
  next(all: ReadonlyMap<string, Session>, options: Told): Session | undefined {
    for (let found = this.#idle.pop(); found !== undefined; found = this.#idle.pop()) {
      const { session, usedAt } = found;
      if (all.get(session.id) === session && session.usedAt === usedAt && !session.isBusy)
        return this.#say(session, options);
    }
    this.#idle.push(...longestIdle(all.values(), FOUND_AT_ONCE));
    return this.#say(this.#idle.pop()?.session, options);
  }

  /** The same among some of them. */
  nextOf(some: Iterable<Session>, options: Told): Session | undefined {
    return this.#say(longestIdle(some, 1)[0]?.session, options);
  }

  #say(idlest: Session | undefined, { log, now, maxSessions }: Told): Session | undefined {
    if (idlest === undefined) return undefined;
    this.#count++;
    if (now() - this.#saidAt < PAUSE_MS) return idlest;
    log.info('The longest idle sessions were let go of to make room for others.', {
      maxSessions,
      count: this.#count,
    });
    this.#saidAt = now();
    this.#count = 0;
    return idlest;
  }
}

export interface Told {
  readonly log: Logger;
  readonly now: () => number;
  readonly maxSessions: number;
}

/** The longest last. */
function longestIdle(among: Iterable<Session>, count: number): readonly Idle[] {
  const idle: Idle[] = [];
  for (const session of among) if (!session.isBusy) idle.push({ session, usedAt: session.usedAt });
  return idle.sort((one, other) => other.usedAt - one.usedAt).slice(-count);
}
