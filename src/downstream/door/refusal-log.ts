import type { Logger } from '../../observe/log.ts';
import type { Door } from './door.ts';

const PAUSE_MS = 10_000;

/** Says that somebody was not let in: the first time at once, then at most so often, with how many there were. */
export class RefusalLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #onRefused: Door['onRefused'];
  #saidAt = -Infinity;
  #count = 0;

  constructor(options: {
    readonly log: Logger;
    readonly now: () => number;
    readonly onRefused: Door['onRefused'];
  }) {
    this.#log = options.log;
    this.#now = options.now;
    this.#onRefused = options.onRefused;
  }

  note(message: string, remoteAddress: string | undefined): void {
    this.#count++;
    if (this.#now() - this.#saidAt < PAUSE_MS) return;
    this.#saidAt = this.#now();
    const count = this.#count;
    this.#count = 0;
    this.#log.warn('A caller was not let in.', { reason: message, remoteAddress, count });
    this.#onRefused?.({ message, count });
  }
}
