interface OwnershipOptions {
  readonly name: string;
  readonly epoch: number;
  /** When the statement that took it was sent: the database counts from later. */
  readonly since: number;
  readonly surrenderMs: number;
  /** Steady. */
  readonly clock: () => number;
  /** Called once: it was given back, or it was lost. */
  readonly onOver: (isLost: boolean) => void;
}

/** That this replica, and no other, runs something; until it is given back, or not renewed in time. */
export class Ownership {
  readonly name: string;
  readonly epoch: number;
  readonly #options: OwnershipOptions;
  readonly #onLost = new Set<() => void>();
  #since: number;
  #users = 0;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(options: OwnershipOptions) {
    this.name = options.name;
    this.epoch = options.epoch;
    this.#options = options;
    this.#since = options.since;
    this.#timer = this.#arm();
  }

  /** Asked before each thing that only the owner may do: a timer may come late, after a pause of the whole process for example. */
  get isHeld(): boolean {
    if (this.#isOver) return false;
    if (this.#left() > 0) return true;
    // Not before whoever asks has said what becomes of its request.
    queueMicrotask(() => this.lose());
    return false;
  }

  renewed(since: number): void {
    // What was surrendered stays so, whatever the database says by now.
    if (!this.isHeld) return;
    this.#since = since;
    clearTimeout(this.#timer);
    this.#timer = this.#arm();
  }

  /** Somebody needs it until the result is disposed of; with the last one it is given back. */
  use(): Disposable {
    this.#users++;
    let isOver = false;
    return {
      [Symbol.dispose]: () => {
        if (isOver) return;
        isOver = true;
        this.#users--;
        if (this.#users === 0) this.#end(false);
      },
    };
  }

  /** Told when it is lost, at once where it is already; whatever it was for must end now. */
  onLost(listener: () => void): Disposable {
    if (this.#isOver) listener();
    else this.#onLost.add(listener);
    return { [Symbol.dispose]: () => void this.#onLost.delete(listener) };
  }

  lose(): void {
    this.#end(true);
  }

  #end(isLost: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.onOver(isLost);
    if (isLost) for (const listener of [...this.#onLost]) listener();
    this.#onLost.clear();
  }

  #left(): number {
    const { clock, surrenderMs } = this.#options;
    return this.#since + surrenderMs - clock();
  }

  #arm(): NodeJS.Timeout {
    return setTimeout(
      () => {
        // A timer counts by another clock.
        if (this.isHeld) this.#timer = this.#arm();
      },
      Math.max(0, this.#left()) + 1,
    ).unref();
  }
}
