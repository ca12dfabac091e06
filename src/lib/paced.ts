import { TokenBucket } from './token-bucket.ts';

/** A rate, and how many wait for their turn in it. */
export class Paced {
  readonly bucket: TokenBucket;
  readonly #maxWaiting: number;
  waiting = 0;

  constructor(options: {
    readonly perMinute: number;
    readonly maxWaiting: number;
    readonly now: () => number;
  }) {
    this.bucket = new TokenBucket(options);
    this.#maxWaiting = options.maxWaiting;
  }

  get isFull(): boolean {
    return this.waiting >= this.#maxWaiting;
  }
}
