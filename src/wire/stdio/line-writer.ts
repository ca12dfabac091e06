import type { Writable } from 'node:stream';
import type { Written } from '../message.ts';

/**
 * Writes of one tick leave in one `write`. The flush waits for `nextTick`, which runs after the promise jobs of the
 * answers that arrived together, so a burst becomes one system call and a lone message is not held back.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  readonly #onOverflow: (bytes: number) => void;
  readonly #later: (flush: () => void) => void;
  #lines = '';
  #scheduled = false;

  constructor(
    stream: Writable,
    options: {
      /** What may wait for a reader that does not read. */
      readonly maxBytes: number;
      readonly onOverflow: (bytes: number) => void;
      /** Waits in place of `nextTick`. */
      readonly later?: (flush: () => void) => void;
    },
  ) {
    this.#stream = stream;
    this.#maxBytes = options.maxBytes;
    this.#onOverflow = options.onOverflow;
    this.#later = options.later ?? ((flush) => process.nextTick(flush));
  }

  write(line: Written): void {
    if (typeof line !== 'string') return this.#writeParts(line);
    this.#lines += `${line}\n`;
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#later(this.#flush);
  }

  readonly #flush = (): void => this.flush();

  flush(): void {
    this.#scheduled = false;
    if (this.#lines === '') return;
    const lines = this.#lines;
    this.#lines = '';
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.write(lines);
    this.#checkQueue();
  }

  /** After everything that was written before, in one system call where the stream can. */
  #writeParts(parts: readonly Buffer[]): void {
    if (this.#stream.destroyed || this.#stream.writableEnded) return;
    this.#stream.cork();
    this.flush();
    for (const part of parts) this.#stream.write(part);
    this.#stream.write('\n');
    this.#stream.uncork();
    this.#checkQueue();
  }

  #checkQueue(): void {
    if (this.#stream.writableLength > this.#maxBytes) this.#onOverflow(this.#stream.writableLength);
  }
}
