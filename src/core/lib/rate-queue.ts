import { TokenBucket } from './token-bucket.ts';

/** A rate limit with a bounded number of waiting calls. */
export class RateQueue {
  readonly bucket: TokenBucket;
  readonly #maxWaiting: number;
  /** The number of waiting calls. The caller increments it before it waits and decrements it afterwards. */
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
