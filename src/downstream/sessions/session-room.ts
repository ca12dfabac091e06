import type { Caller } from '../../model/caller.ts';
import { Evictions } from './evictions.ts';
import type { Told } from './evictions.ts';
import type { Session } from './session.ts';

interface RoomOptions extends Told {
  /** Whether callers can be told apart; then none of them has more than its share. */
  readonly isShared?: () => boolean;
}

/** One caller has at most one of these parts of all sessions. */
const SHARES = 4;

/** How many sessions there can be at a time, and which of them makes room for another one. */
export class SessionRoom {
  readonly #sessions: ReadonlyMap<string, Session>;
  /** Of each caller. */
  readonly #counts = new Map<string, number>();
  readonly #evictions = new Evictions();

  constructor(sessions: ReadonlyMap<string, Session>) {
    this.#sessions = sessions;
  }

  entered({ caller: { id } }: Session): void {
    this.#counts.set(id, this.#countOf(id) + 1);
  }

  left({ caller: { id } }: Session): void {
    const count = this.#countOf(id) - 1;
    if (count === 0) this.#counts.delete(id);
    else this.#counts.set(id, count);
  }

  /** Who has its share makes room itself, so that one caller cannot end or keep out the sessions of all others. */
  for({ id }: Caller, options: RoomOptions): 'free' | 'none' | Session {
    const { maxSessions, isShared } = options;
    if (isShared?.() === true && this.#countOf(id) >= Math.ceil(maxSessions / SHARES)) {
      const own = [...this.#sessions.values()].filter(({ caller }) => caller.id === id);
      return this.#evictions.nextOf(own, options) ?? 'none';
    }
    if (this.#sessions.size < maxSessions) return 'free';
    return this.#evictions.next(this.#sessions, options) ?? 'none';
  }

  #countOf(caller: string): number {
    return this.#counts.get(caller) ?? 0;
  }
}
