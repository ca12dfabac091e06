import { GatewayError } from '../../core/errors.ts';
import type { Cancellation } from '../../core/lib/cancellation.ts';
import { settleThen } from '../../core/lib/settle-then.ts';
import { NOT_IN_SET, SwapRemoveSet } from '../../core/lib/swap-remove-set.ts';
import type { SetMember } from '../../core/lib/swap-remove-set.ts';
import type { CallEndListener } from '../../policy/guard.ts';

/** Time in milliseconds for cancelled calls to end. Most end at once. If its server has stopped, a call first determines the reason. */
const CANCEL_GRACE_MS = 700;

/** Tracks running calls and lookups, so that a shutdown can wait for them. */
export class InFlightCalls {
  readonly #running = new SwapRemoveSet<RunningCall>();
  #onDrained: (() => void) | undefined;

  /** Starts tracking a call. The returned listener must be notified when the call ends. */
  begin(cancellation: Cancellation): CallEndListener {
    const call = new RunningCall(cancellation, this);
    this.#running.add(call);
    return call;
  }

  track<T>(cancellation: Cancellation, work: Promise<T>): Promise<T> {
    const call = this.begin(cancellation);
    return settleThen(work, () => call.onEnd(undefined, undefined));
  }

  end(call: RunningCall): void {
    this.#running.delete(call);
    if (this.#running.size === 0) this.#onDrained?.();
  }

  /** Waits for running calls to finish, and cancels those that have not finished within `withinMs`. */
  async drain(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    await this.#waitUntilDrained(withinMs);
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping. Retry when it runs again.');
    for (const { cancellation } of this.#running) cancellation.cancel(reason);
    await this.#waitUntilDrained(CANCEL_GRACE_MS);
    // Results pass through a few promises on their way to the client. After one turn of the event loop they have been sent.
    await new Promise((resolve) => setImmediate(resolve));
  }

  async #waitUntilDrained(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => (this.#onDrained = resolve)),
      new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs))),
    ]);
    clearTimeout(timer);
  }
}

class RunningCall implements SetMember, CallEndListener {
  index = NOT_IN_SET;
  readonly cancellation: Cancellation;
  readonly #calls: InFlightCalls;

  constructor(cancellation: Cancellation, calls: InFlightCalls) {
    this.cancellation = cancellation;
    this.#calls = calls;
  }

  onEnd(): void {
    this.#calls.end(this);
  }
}
