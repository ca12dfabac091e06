import type { Writable } from 'node:stream';
import type { EncodedMessage } from '../rpc-message.ts';

/**
 * Joins the lines of one tick into one `write`. The flush runs in `nextTick`, which follows the promise jobs of all responses that arrived
 * together, so a burst becomes one system call and a single message is not delayed.
 */
export class LineWriter {
  readonly #stream: Writable;
  readonly #maxBytes: number;
  readonly #onOverflow: (bytes: number) => void;
  readonly #schedule: (flush: () => void) => void;
  readonly #isNewestExempt: boolean;
  #lines = '';
  #isScheduled = false;
  #hasReported = false;

  constructor(
    stream: Writable,
    options: {
      /** The maximum number of bytes that are buffered for a reader that does not read. */
      readonly maxBytes: number;
      readonly onOverflow: (bytes: number) => void;
      /** Whether the newest message may exceed `maxBytes`. Messages that follow an overflow are then dropped instead of buffered. */
      readonly isNewestExempt?: boolean;
      /** Schedules the flush; `nextTick` by default. */
      readonly schedule?: (flush: () => void) => void;
    },
  ) {
    this.#stream = stream;
    this.#maxBytes = options.maxBytes;
    this.#onOverflow = options.onOverflow;
    this.#isNewestExempt = options.isNewestExempt ?? false;
    this.#schedule = options.schedule ?? ((flush) => process.nextTick(flush));
  }

  write(line: EncodedMessage): void {
    if (typeof line !== 'string') return this.#writeParts(line);
    this.#lines += `${line}\n`;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(this.#flush);
  }

  /** This function is a member, so that no function is created per flush. */
  readonly #flush = (): void => this.flush();

  flush(): void {
    this.#isScheduled = false;
    if (this.#lines === '') return;
    const lines = this.#lines;
    this.#lines = '';
    if (this.#stream.destroyed || this.#stream.writableEnded || this.#hasBacklog()) return;
    this.#stream.write(lines);
    this.#checkQueue();
  }

  /** Writes the parts after the buffered lines, in one system call if the stream supports it. */
  #writeParts(parts: readonly Buffer[]): void {
    if (this.#stream.destroyed || this.#stream.writableEnded || this.#hasBacklog()) return;
    this.#stream.cork();
    this.flush();
    for (const part of parts) this.#stream.write(part);
    this.#stream.write('\n');
    this.#stream.uncork();
    this.#checkQueue();
  }

  /** Whether earlier messages exceed the limit. The first time, this is reported. */
  #hasBacklog(): boolean {
    const bytes = this.#stream.writableLength;
    if (!this.#isNewestExempt || bytes <= this.#maxBytes) return false;
    if (!this.#hasReported) this.#onOverflow(bytes);
    this.#hasReported = true;
    return true;
  }

  #checkQueue(): void {
    if (!this.#isNewestExempt && this.#stream.writableLength > this.#maxBytes)
      this.#onOverflow(this.#stream.writableLength);
  }
}
