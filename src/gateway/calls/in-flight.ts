import { afterwards } from '../../lib/afterwards.ts';
import type { Cancellation } from '../../lib/cancellation.ts';
import { Crowd, NOWHERE } from '../../lib/crowd.ts';
import type { Member } from '../../lib/crowd.ts';
import { GatewayError } from '../../model/errors.ts';
import type { CallEnd } from '../../policy/call.ts';

/** What is cancelled ends at once, unless it is just finding out why its server is gone. */
const LAST_WORDS_MS = 700;

/** Work that a stop waits for. */
export class InFlight {
  readonly #running = new Crowd<Running>();
  #drained: (() => void) | undefined;

  begin(cancellation: Cancellation): CallEnd {
    const running = new Running(cancellation, this);
    this.#running.add(running);
    return running;
  }

  track<T>(cancellation: Cancellation, work: Promise<T>): Promise<T> {
    const running = this.begin(cancellation);
    return afterwards(work, () => running.over(undefined, undefined));
  }

  over(running: Running): void {
    this.#running.delete(running);
    if (this.#running.size === 0) this.#drained?.();
  }

  /** Lets calls in flight finish; those that have not by the deadline are cancelled. */
  async drain(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    await this.#over(withinMs);
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping; try again in a moment.');
    for (const { cancellation } of this.#running) cancellation.cancel(reason);
    await this.#over(LAST_WORDS_MS);
    // Answers pass through a few promises on their way out; a turn later they have left.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #over(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => (this.#drained = resolve)),
      new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs))),
    ]);
    clearTimeout(timer);
  }
}

class Running implements Member, CallEnd {
  place = NOWHERE;
  readonly cancellation: Cancellation;
  readonly #all: InFlight;

  constructor(cancellation: Cancellation, all: InFlight) {
    this.cancellation = cancellation;
    this.#all = all;
  }

  over(): void {
    this.#all.over(this);
  }
}
