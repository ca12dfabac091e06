interface OwnershipOptions {
  readonly name: string;
  /** Distinguishes this ownership from earlier and later ones of the same name. */
  readonly epoch: number;
  /**
   * The time by `clock` at which the claim was sent. The lease in the database starts later, so the owner
   * always gives up before the lease ends.
   */
  readonly requestedAt: number;
  /** The time after `requestedAt` at which the owner gives up unless the ownership was renewed. */
  readonly surrenderMs: number;
  /** Returns milliseconds of a clock that never stops or goes back, see `createSteadyClock`. */
  readonly clock: () => number;
  /** Called once, when the ownership ends: released by its users (`isLost` is false), or lost. */
  readonly onEnd: (isLost: boolean) => void;
}

/** The exclusive right of this replica to run something. It ends when its last user releases it, or when it is not renewed in time. */
export class Ownership {
  readonly name: string;
  readonly epoch: number;
  readonly #options: OwnershipOptions;
  readonly #lossListeners = new Set<() => void>();
  /** The time at which the claim or the last successful renewal was sent. */
  #requestedAt: number;
  #users = 0;
  #hasEnded = false;
  #timer: NodeJS.Timeout;

  constructor(options: OwnershipOptions) {
    this.name = options.name;
    this.epoch = options.epoch;
    this.#options = options;
    this.#requestedAt = options.requestedAt;
    this.#timer = this.#startTimer();
  }

  /**
   * Whether this replica holds the ownership at this moment. Check it before each action that only the owner
   * may take: the timer that ends the ownership may be late, for example after the process was suspended.
   */
  get isHeld(): boolean {
    if (this.#hasEnded) return false;
    if (this.#remainingMs() > 0) return true;
    // The listeners are called later, so that the caller can first handle the request for which it checks the ownership.
    queueMicrotask(() => this.lose());
    return false;
  }

  /** Restarts the remaining time after a successful renewal, which was sent at `requestedAt`. */
  extend(requestedAt: number): void {
    // If this replica has given up in the meantime, its server is already stopping, so the renewal comes too
    // late.
    if (!this.isHeld) return;
    this.#requestedAt = requestedAt;
    clearTimeout(this.#timer);
    this.#timer = this.#startTimer();
  }

  /** Registers a user of the ownership until the result is disposed. The ownership is released with its last user. */
  use(): Disposable {
    this.#users++;
    let isDisposed = false;
    return {
      [Symbol.dispose]: () => {
        if (isDisposed) return;
        isDisposed = true;
        this.#users--;
        if (this.#users === 0) this.#end(false);
      },
    };
  }

  /**
   * Calls the listener when the ownership is lost, or at once if it has already ended. The listener must stop what the ownership protects.
   */
  onLost(listener: () => void): Disposable {
    if (this.#hasEnded) listener();
    else this.#lossListeners.add(listener);
    return { [Symbol.dispose]: () => void this.#lossListeners.delete(listener) };
  }

  /** Ends the ownership without releasing its database row, because this replica may no longer be the owner. */
  lose(): void {
    this.#end(true);
  }

  #end(isLost: boolean): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#timer);
    this.#options.onEnd(isLost);
    if (isLost) for (const listener of [...this.#lossListeners]) listener();
    this.#lossListeners.clear();
  }

  #remainingMs(): number {
    const { clock, surrenderMs } = this.#options;
    return this.#requestedAt + surrenderMs - clock();
  }

  #startTimer(): NodeJS.Timeout {
    return setTimeout(
      () => {
        // Reading `isHeld` ends an ownership whose time is up. Timers use another clock, so some time may remain.
        if (this.isHeld) this.#timer = this.#startTimer();
      },
      Math.max(0, this.#remainingMs()) + 1,
    ).unref();
  }
}
