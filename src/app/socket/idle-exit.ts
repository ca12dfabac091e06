/** Minimum time to wait for the first client, so that the process that started the gateway can connect. */
const FIRST_CLIENT_MS = 10_000;

interface IdleExitOptions {
  /** Returns the time without clients after which the gateway exits, in milliseconds; undefined if it must not exit by itself. */
  readonly idleMs: () => number | undefined;
  readonly onIdle: () => void;
}

/** Ends a background gateway that has had no client for `idleMs`, or never had one. */
export class IdleExit implements Disposable {
  readonly #options: IdleExitOptions;
  #users = 0;
  #isRetired = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleExitOptions) {
    this.#options = options;
    const idleMs = options.idleMs();
    if (idleMs !== undefined) this.#exitAfter(Math.max(FIRST_CLIENT_MS, idleMs));
  }

  /** Keeps the gateway running until `release` is called. */
  acquire(): void {
    this.#users++;
    clearTimeout(this.#timer);
  }

  release(): void {
    this.#users--;
    const idleMs = this.#options.idleMs();
    if (this.#users > 0) return;
    if (this.#isRetired) this.#exitAfter(0);
    else if (idleMs !== undefined) this.#exitAfter(idleMs);
  }

  /** Makes the gateway exit when its last client leaves, because another gateway has replaced it. A foreground gateway keeps running. */
  retire(): void {
    if (this.#options.idleMs() === undefined) return;
    this.#isRetired = true;
    if (this.#users === 0) this.#exitAfter(0);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }

  #exitAfter(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      if (this.#users === 0) this.#options.onIdle();
    }, ms);
  }
}
