/**
 * Cancels some work with a reason. It replaces AbortSignal on the call path: on Node 20, a signal with one listener costs about 4 µs, and
 * `AbortSignal.any` costs 17 µs.
 */
export class Cancellation {
  #reason: Error | undefined;
  #listeners: ((reason: Error) => void)[] | undefined;
  #controller: AbortController | undefined;

  /** Undefined until cancelled. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  /** Cancels the work and calls the listeners. Only the first call has an effect. */
  cancel(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const listeners = this.#listeners;
    this.#listeners = undefined;
    if (listeners !== undefined) for (const listener of listeners) listener(reason);
    this.#controller?.abort(reason);
  }

  /** Calls the listener when the work is cancelled, or at once if it already is. */
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

  /** An AbortSignal for other APIs, created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }
}

/** Settles like the promise, or rejects when cancelled. The work itself continues. */
export function rejectOnCancel<T>(promise: Promise<T>, cancellation: Cancellation): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    cancellation.onCancel(reject);
    promise.then(resolve, reject).finally(() => cancellation.offCancel(reject));
  });
}
