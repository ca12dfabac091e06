interface ReaderDeps {
  readonly isAllowed: () => boolean;
  /** What a reader is told that was cut off. */
  readonly slow: () => string;
  readonly onEnd: () => void;
}

/** What may wait for one reader. */
const MAX_WAITING_CHARS = 1024 * 1024;

/** One who reads events. Whoever reads too slowly is told so, and cut off: it comes back and asks for everything again. */
export class EventStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #deps: ReaderDeps;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #waiting: string[] = [];
  #chars = 0;
  #isLast = false;
  #isOver = false;

  constructor(deps: ReaderDeps) {
    this.#deps = deps;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#flush(),
      cancel: () => this.#over(),
    });
  }

  push(text: string): void {
    if (this.#isOver || this.#isLast) return;
    if (!this.#deps.isAllowed()) return this.end();
    this.#waiting.push(text);
    this.#chars += text.length;
    if (this.#chars > MAX_WAITING_CHARS) {
      this.#waiting = [this.#deps.slow()];
      this.#isLast = true;
    }
    this.#flush();
  }

  /** A comment, so that both sides notice when the other one is gone. */
  beat(): void {
    if (this.#waiting.length === 0) this.push(': \n\n');
  }

  end(): void {
    if (this.#isOver) return;
    this.#over();
    this.#controller?.close();
  }

  #flush(): void {
    const controller = this.#controller;
    while (!this.#isOver && controller !== undefined && (controller.desiredSize ?? 0) > 0) {
      const text = this.#waiting.shift();
      if (text === undefined) break;
      this.#chars -= text.length;
      controller.enqueue(this.#encoder.encode(text));
    }
    if (this.#isLast && this.#waiting.length === 0) this.end();
  }

  #over(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#deps.onEnd();
  }
}
