/**
 * Why work should stop, and who wants to know. It stands in for AbortSignal on the path of a call, where a
 * signal with one listener costs about 4 µs and `AbortSignal.any` 17 µs on Node 20.
 */
export class Cancellation {
  #reason: Error | undefined;
  #listeners: ((reason: Error) => void)[] | undefined;
  #controller: AbortController | undefined;

  get reason(): Error | undefined {
    return this.#reason;
  }

  /** The first reason wins; later ones are ignored. */
  cancel(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener(reason);
    this.#controller?.abort(reason);
  }

  /** Calls at once when already cancelled. */
  onCancel(listener: (reason: Error) => void): void {
    if (this.#reason !== undefined) listener(this.#reason);
    else if (this.#listeners === undefined) this.#listeners = [listener];
    else this.#listeners.push(listener);
  }

  offCancel(listener: (reason: Error) => void): void {
    const at = this.#listeners?.indexOf(listener) ?? -1;
    if (at >= 0) this.#listeners?.splice(at, 1);
  }

  throwIfCancelled(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /** For code that only knows signals; made when first asked for. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
}

/** Stops waiting when cancelled, never the work. */
export function orCancelled<T>(promise: Promise<T>, cancellation: Cancellation): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    cancellation.onCancel(reject);
    promise.then(resolve, reject).finally(() => cancellation.offCancel(reject));
  });
}
