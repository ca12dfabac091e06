import type { Writable } from 'node:stream';

/**
 * Writes of one tick leave in one `write`. The flush waits for `nextTick`, which runs after the promise jobs of the
 * answers that arrived together, so a burst becomes one system call and a lone message is not held back.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  readonly #onOverflow: (bytes: number) => void;
  #lines = '';
  #scheduled = false;

  constructor(
    stream: Writable,
    options: {
      /** What may wait for a reader that does not read. */
      readonly maxBytes: number;
      readonly onOverflow: (bytes: number) => void;
    },
  ) {
    this.#stream = stream;
    this.#maxBytes = options.maxBytes;
    this.#onOverflow = options.onOverflow;
  }

  write(text: string): void {
    this.#lines += `${text}\n`;
    if (this.#scheduled) return;
    this.#scheduled = true;
    process.nextTick(() => this.flush());
  }

  flush(): void {
    this.#scheduled = false;
    if (this.#lines === '') return;
    const lines = this.#lines;
    this.#lines = '';
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.write(lines);
    if (this.#stream.writableLength > this.#maxBytes) this.#onOverflow(this.#stream.writableLength);
  }
}
