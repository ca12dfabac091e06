interface SubscriberOptions {
  /** Checked before each event, so that a browser that signs out receives no more events. */
  readonly isAllowed: () => boolean;
  /** Returns the last event for a subscriber that reads too slowly. */
  readonly slowEvent: () => string;
  readonly onEnd: () => void;
}

/** Maximum number of characters that are buffered for one subscriber. */
const MAX_BUFFERED_CHARS = 1024 * 1024;

/** One reader of the event stream. A reader that is too slow is disconnected, and must reconnect and load everything again. */
export class EventSubscriber {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #options: SubscriberOptions;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #buffer: string[] = [];
  #bufferedChars = 0;
  /** Whether the stream closes after the buffered events have been sent. */
  #isClosing = false;
  #isClosed = false;

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#flush(),
      cancel: () => this.#markClosed(),
    });
  }

  push(text: string): void {
    if (this.#isClosed || this.#isClosing) return;
    if (!this.#options.isAllowed()) return this.end();
    this.#buffer.push(text);
    this.#bufferedChars += text.length;
    if (this.#bufferedChars > MAX_BUFFERED_CHARS) {
      this.#buffer = [this.#options.slowEvent()];
      this.#isClosing = true;
    }
    this.#flush();
  }

  /** Sends a comment, so that both sides notice a broken connection. */
  sendHeartbeat(): void {
    if (this.#buffer.length === 0) this.push(': \n\n');
  }

  end(): void {
    if (this.#isClosed) return;
    this.#markClosed();
    this.#controller?.close();
  }

  #flush(): void {
    const controller = this.#controller;
    while (!this.#isClosed && controller !== undefined && (controller.desiredSize ?? 0) > 0) {
      const text = this.#buffer.shift();
      if (text === undefined) break;
      this.#bufferedChars -= text.length;
      controller.enqueue(this.#encoder.encode(text));
    }
    if (this.#isClosing && this.#buffer.length === 0) this.end();
  }

  #markClosed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#buffer = [];
    this.#options.onEnd();
  }
}
