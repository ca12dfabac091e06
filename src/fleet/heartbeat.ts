interface HeartbeatOptions {
  readonly everyMs: number;
  /** Must tell the database and may fail; the next one is tried all the same. */
  readonly beat: () => Promise<void>;
  /** The first failure of several in a row, and the first success after them. */
  readonly onTrouble: (error: unknown) => void;
  readonly onHealed: () => void;
}

/** Does something over and over, one after the other, for as long as the gateway lives. */
export class Heartbeat implements AsyncDisposable {
  readonly #options: HeartbeatOptions;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> = Promise.resolve();
  #isInTrouble = false;
  #isOver = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
    this.#next();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#timer);
    await this.#underWay;
  }

  #next(): void {
    if (this.#isOver) return;
    this.#timer = setTimeout(() => {
      this.#underWay = this.#beat();
    }, this.#options.everyMs).unref();
  }

  async #beat(): Promise<void> {
    try {
      await this.#options.beat();
      if (this.#isInTrouble) this.#options.onHealed();
      this.#isInTrouble = false;
    } catch (error) {
      if (!this.#isInTrouble) this.#options.onTrouble(error);
      this.#isInTrouble = true;
    }
    this.#next();
  }
}
