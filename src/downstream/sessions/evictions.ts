import type { Logger } from '../../observe/log.ts';
import type { Session } from './session.ts';

const PAUSE_MS = 10_000;

/**
 * Which session makes room for another one. Where clients come and go without ending theirs one does with every handshake, so that it is
 * said the first time at once, then at most so often, with how many there were.
 */
export class Evictions {
  #saidAt = -Infinity;
  #count = 0;

  /** The longest idle one; undefined where all are in use. */
  next(
    among: Iterable<Session>,
    {
      log,
      now,
      maxSessions,
    }: { readonly log: Logger; readonly now: () => number; readonly maxSessions: number },
  ): Session | undefined {
    let idlest: Session | undefined;
    for (const session of among)
      if ((idlest === undefined || session.usedAt < idlest.usedAt) && !session.isBusy) idlest = session;
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
