import type { Cancellation } from '../lib/cancellation.ts';
import { GatewayError } from '../model/errors.ts';

/** Work that a stop waits for. */
export class InFlight {
  readonly #running = new Set<Cancellation>();
  #drained: (() => void) | undefined;

  async track<T>(cancellation: Cancellation, work: () => Promise<T>): Promise<T> {
    this.#running.add(cancellation);
    try {
      return await work();
    } finally {
      this.#running.delete(cancellation);
      if (this.#running.size === 0) this.#drained?.();
    }
  }

  /** Lets calls in flight finish; those that have not by the deadline are cancelled. */
  async drain(withinMs: number): Promise<void> {
    if (this.#running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([
      new Promise<void>((resolve) => (this.#drained = resolve)),
      new Promise<void>((resolve) => (timer = setTimeout(resolve, withinMs))),
    ]);
    clearTimeout(timer);
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping; try again in a moment.');
    for (const cancellation of [...this.#running]) cancellation.cancel(reason);
    // Answers pass through a few promises on their way out; a turn later they have left.
    await new Promise((resolve) => setImmediate(resolve));
  }
}
