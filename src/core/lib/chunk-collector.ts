/** The number of parts that are stored without copying, whatever their size; most messages have fewer parts. */
const MAX_DIRECT_PARTS = 32;
/** From this size on, a part is always stored without copying, because copying would cost more than the object that holds it. */
const LARGE_BYTES = 4096;
/** The size of the blocks into which small parts are copied. */
const BLOCK_BYTES = 64 * 1024;

/**
 * Collects the parts of one message. Many small parts are copied together, because each `Buffer` object takes a hundred bytes or more. Otherwise
 * a peer that sends its message byte by byte would use hundreds of times the memory of the message.
 */
export class ChunkCollector {
  #parts: Buffer[] = [];
  /** The block into which small parts are copied. Its first `#used` bytes hold data that is not in `#parts` yet. */
  #block: Buffer | undefined;
  #used = 0;
  #length = 0;

  /** The number of bytes collected. */
  get length(): number {
    return this.#length;
  }

  add(part: Buffer): void {
    this.#length += part.length;
    if (this.#parts.length >= MAX_DIRECT_PARTS && part.length < LARGE_BYTES) return this.#copy(part);
    this.#endBlock();
    this.#parts.push(part);
  }

  /** Returns the whole message, and starts a new one. */
  take(): Buffer {
    this.#endBlock();
    const [first] = this.#parts;
    const isSingle = this.#parts.length === 1 && first !== undefined;
    const whole = isSingle ? first : Buffer.concat(this.#parts, this.#length);
    this.clear();
    return whole;
  }

  clear(): void {
    this.#parts = [];
    this.#block = undefined;
    this.#used = 0;
    this.#length = 0;
  }

  #copy(part: Buffer): void {
    if (this.#block === undefined || part.length > this.#block.length - this.#used) {
      this.#endBlock();
      this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    }
    this.#used += part.copy(this.#block, this.#used);
  }

  /** Adds the filled bytes of the block to the parts, and keeps the rest of the block for later parts. */
  #endBlock(): void {
    if (this.#block === undefined || this.#used === 0) return;
    this.#parts.push(this.#block.subarray(0, this.#used));
    this.#block = this.#block.subarray(this.#used);
    this.#used = 0;
  }
}
