import { afterwards } from '../lib/afterwards.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import type { Payload } from '../lib/payload.ts';
import type { Carried } from './connection.ts';
import { Turns } from './sharing/turns.ts';

/** What clients have asked of one server and was not answered yet, those that wait for their turn as well. */
export class Asked {
  /** Questions of the server do not say to which call they belong: with one call at a time they need not. */
  #turns: Turns | undefined;
  #count = 0;
  #over: Deferred<void> | undefined;

  /** Until the request is answered, and not until its call is over: a guard of somebody's own may give up a call that goes on. */
  run(asked: Carried, send: (asked: Carried) => Promise<Payload>): Promise<Payload> {
    const { cancellation } = asked.options;
    const answer = this.#turns === undefined ? send(asked) : this.#turns.run(() => send(asked), cancellation);
    this.#count++;
    return afterwards(answer, this.#answered);
  }

  readonly #answered = (): void => {
    this.#count--;
    if (this.#count === 0) this.#over?.resolve();
  };

  takeTurns(): void {
    this.#turns ??= new Turns();
  }

  /** The next may begin although the one whose turn it is has not ended. */
  release(): void {
    this.#turns?.release();
  }

  /** Resolves when nothing is waited for; nobody asks anything more by then. */
  over(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return (this.#over ??= deferred<void>()).promise;
  }
}
