interface HeartbeatOptions {
  /** The pause between the end of one heartbeat and the start of the next. */
  readonly everyMs: number;
  /** Reports to the database. If it rejects, the next heartbeat still follows. */
  readonly beat: () => Promise<void>;
  /** Called for the first of several consecutive failures. */
  readonly onFailure: (error: unknown) => void;
  /** Called for the first success after a failure. */
  readonly onRecovery: () => void;
}

/** Runs `beat` repeatedly, never two at a time, until it is disposed. */
export class Heartbeat implements AsyncDisposable {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #currentBeat: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isStopped = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#schedule();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#currentBeat;
  }

  #schedule(): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#currentBeat = this.#beat();
    }, this.#options.everyMs).unref();
  }

  async #beat(): Promise<void> {
    try {
      await this.#options.beat();
      if (this.#isFailing) this.#options.onRecovery();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#options.onFailure(error);
      this.#isFailing = true;
    }
    this.#schedule();
  }
}
