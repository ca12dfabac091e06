/** Long enough for whoever started us to connect. */
const FIRST_MS = 10_000;

interface IdleExitOptions {
  /** How long nobody may be there; absent where that is no reason to end. */
  readonly idleMs: () => number | undefined;
  readonly onIdle: () => void;
}

/** Ends a gateway in the background that nobody uses, also one that never had a client. */
export class IdleExit implements Disposable {
  readonly #options: IdleExitOptions;
  #present = 0;
  #isRetiring = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleExitOptions) {
    this.#options = options;
    const idleMs = options.idleMs();
    if (idleMs !== undefined) this.#wait(Math.max(FIRST_MS, idleMs));
  }

  enter(): void {
    this.#present++;
    clearTimeout(this.#timer);
  }

  leave(): void {
    this.#present--;
    const idleMs = this.#options.idleMs();
    if (this.#present > 0) return;
    if (this.#isRetiring) this.#wait(0);
    else if (idleMs !== undefined) this.#wait(idleMs);
  }

  /** There is a successor: ends with the last who is here, unless a person started us. */
  retire(): void {
    if (this.#options.idleMs() === undefined) return;
    this.#isRetiring = true;
    if (this.#present === 0) this.#wait(0);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#present === 0) this.#options.onIdle();
    }, ms);
  }
}
