import { deferred } from '../core/lib/deferred.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import type { Deferred } from '../core/lib/deferred.ts';
import { Slots } from '../core/lib/slots.ts';

/**
 * Counts the requests of clients to one server until they are answered, including those that wait in the queue. A guard may give up a
 * call earlier; its request still counts, because the server still works on it.
 */
export class PendingRequests {
  #queue: SerialQueue | undefined;
  #count = 0;
  #drained: Deferred<void> | undefined;

  /** Exists after `serialize`; a call must then enter it before it is sent. */
  get queue(): SerialQueue | undefined {
    return this.#queue;
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  add(): void {
    this.#count++;
  }

  remove(): void {
    this.#count--;
    if (this.#count === 0) this.#drained?.resolve();
  }

  /** Runs one call at a time from now on, because the server asks questions without naming the call that they belong to. */
  serialize(): void {
    this.#queue ??= new SerialQueue();
  }

  /** Resolves when no request is pending. The caller must make sure that none is added meanwhile. */
  drained(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return (this.#drained ??= deferred<void>()).promise;
  }
}

/** Lets one call run at a time. */
export class SerialQueue {
  readonly #slots = new Slots({ width: 1, maxWaiting: Infinity });
  #current: QueueTurn | undefined;

  /** Waits for a turn; rejects when cancelled while waiting. */
  async enter(cancellation: Cancellation): Promise<QueueTurn> {
    if (!this.#slots.tryEnter()) await this.#slots.enter(cancellation);
    this.#current = new QueueTurn(this.#slots);
    return this.#current;
  }

  /** Lets the next call start before the current one has ended. */
  releaseCurrent(): void {
    this.#current?.end();
  }
}

/** The right to run one call. `end` passes it to the next call; ending it twice has no effect. */
export class QueueTurn {
  readonly #slots: Slots;
  #hasEnded = false;

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#slots.leave();
  }
}
