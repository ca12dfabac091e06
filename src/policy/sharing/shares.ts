import { Slots } from '../../lib/slots.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import type { Logger } from '../../observe/log.ts';
import type { Database } from '../../storage/database.ts';
import { giveUpShares, settleShares } from './share-book.ts';
import type { Claim } from './share-book.ts';

interface SharesOptions {
  readonly database: () => Promise<Database>;
  readonly replica: string;
  readonly now: () => number;
  readonly log: Logger;
  readonly leaseMs?: number;
  readonly everyMs?: number;
}

/** Something that a limit is about; how much it wants is asked anew each time. */
interface Shared extends Claim {
  limit: number;
  /** Whether nobody has used it for long. */
  isIdle(): boolean;
}

const LEASE_MS = 30_000;
const EVERY_MS = 1000;
/** While somebody waits for what others may give up. */
const SOON_MS = 100;
const IDLE_MS = 60_000;
const MAX_KEPT = 10_000;

/** What this gateway has of limits that all gateways share. It follows demand in the background; a call asks memory only. */
export class Shares implements AsyncDisposable {
  readonly #options: SharesOptions;
  readonly #shared = new Map<string, SharedPlaces | SharedRate>();
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;
  #settling: Promise<void> = Promise.resolve();
  #hasTrouble = false;
  #isClosed = false;

  constructor(options: SharesOptions) {
    this.#options = options;
  }

  /** Calls under way at the same time. */
  places(name: string, limit: number, maxWaiting: number): SharedPlaces {
    const key = `places ${name}`;
    const known = this.#shared.get(key);
    const found =
      known instanceof SharedPlaces && known.maxWaiting === maxWaiting
        ? known
        : this.#added(key, new SharedPlaces(key, maxWaiting, this.#options.now));
    found.limit = limit;
    return found;
  }

  /** Calls per minute. */
  rate(name: string, limit: number): SharedRate {
    const key = `rate ${name}`;
    const known = this.#shared.get(key);
    const found =
      known instanceof SharedRate ? known : this.#added(key, new SharedRate(key, this.#options.now));
    found.limit = limit;
    return found;
  }

  /** Somebody waits for more than there is here. */
  isShort(): void {
    this.#settleIn(SOON_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#settling;
    if (this.#shared.size === 0) return;
    const { replica } = this.#options;
    try {
      await giveUpShares({ database: await this.#options.database(), replica });
    } catch {
      // Best effort: the lease ends by itself.
    }
  }

  #added<T extends SharedPlaces | SharedRate>(key: string, shared: T): T {
    if (this.#shared.size >= MAX_KEPT) this.#shared.delete(this.#shared.keys().next().value ?? '');
    this.#shared.set(key, shared);
    this.#settleIn(0);
    return shared;
  }

  #settleIn(ms: number): void {
    const at = performance.now() + ms;
    if (this.#isClosed || at >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => {
      // Nothing makes it sooner while it runs; it looks at demand as it is then.
      this.#settling = this.#settle();
    }, ms).unref();
  }

  async #settle(): Promise<void> {
    const { replica, leaseMs = LEASE_MS, everyMs = EVERY_MS, log } = this.#options;
    let isShort = false;
    try {
      const database = await this.#options.database();
      // Servers are few, and their next call is not to wait for a share.
      const isDropped = ([key, shared]: readonly [string, Shared]): boolean =>
        shared.isIdle() && !key.includes(' server ');
      const idle = [...this.#shared].filter(isDropped).map(([key]) => key);
      for (const key of idle) this.#shared.delete(key);
      await giveUpShares({ database, replica }, idle);
      if (this.#shared.size > 0)
        isShort = await settleShares({ database, replica, leaseMs }, [...this.#shared.values()]);
      this.#hasTrouble = false;
    } catch (error) {
      // What we have we keep; nobody can take it while nobody reaches the database.
      if (!this.#hasTrouble) log.warn('Limits of the fleet are not adjusted now.', { reason: String(error) });
      this.#hasTrouble = true;
    }
    this.#dueAt = Infinity;
    if (this.#shared.size > 0) this.#settleIn(isShort ? SOON_MS : everyMs);
  }
}

/** Places for calls, as many as our share. */
export class SharedPlaces implements Shared {
  readonly name: string;
  readonly maxWaiting: number;
  readonly #slots: Slots;
  readonly #now: () => number;
  limit = 0;
  share = 0;
  #peak = 0;
  #usedAt: number;

  constructor(name: string, maxWaiting: number, now: () => number) {
    this.name = name;
    this.maxWaiting = maxWaiting;
    this.#slots = new Slots({ width: 0, maxWaiting });
    this.#now = now;
    this.#usedAt = now();
  }

  /** One at a time is enough to know that somebody wants it. */
  get slots(): Slots {
    this.#usedAt = this.#now();
    this.#peak = Math.max(this.#peak, this.#slots.inUse + this.#slots.waiting + 1);
    return this.#slots;
  }

  get wanted(): number {
    const current = this.#slots.inUse + this.#slots.waiting;
    const wanted = Math.min(this.limit, Math.max(current, this.#peak));
    this.#peak = current;
    return wanted;
  }

  get inUse(): number {
    return this.#slots.inUse;
  }

  use(share: number): void {
    this.share = share;
    this.#slots.resize(share);
  }

  isIdle(): boolean {
    return this.#slots.inUse + this.#slots.waiting === 0 && this.#usedAt < this.#now() - IDLE_MS;
  }
}

/** A rate, of which we have our share. */
export class SharedRate implements Shared {
  readonly name: string;
  readonly inUse = 0;
  readonly #bucket: TokenBucket;
  readonly #now: () => number;
  limit = 0;
  share = 0;
  #asked = 0;
  #perMinute = 0;
  #countedFrom: number;
  #usedAt: number;

  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
    this.#countedFrom = now();
    this.#usedAt = now();
    this.#bucket = new TokenBucket({ perMinute: 0, now });
    this.#bucket.adjust(0);
  }

  /** One more call wants to be made. */
  ask(): void {
    this.#asked++;
    this.#usedAt = this.#now();
  }

  /** Milliseconds until one may be. */
  peek(): number {
    return this.#bucket.peek();
  }

  take(): void {
    this.#bucket.take();
  }

  /** By what was asked lately, and some more, since who was refused may come again; it falls slowly. */
  get wanted(): number {
    const elapsed = Math.max(1, this.#now() - this.#countedFrom);
    if (elapsed >= EVERY_MS || this.#asked > 0) {
      const latest = (this.#asked * 60_000) / Math.max(EVERY_MS, elapsed);
      this.#perMinute = Math.max(latest * 1.5, this.#perMinute * 0.8);
      if (this.#perMinute < 1) this.#perMinute = 0;
      this.#asked = 0;
      this.#countedFrom = this.#now();
    }
    return Math.min(this.limit, Math.ceil(this.#perMinute));
  }

  use(share: number): void {
    this.share = share;
    this.#bucket.adjust(share);
  }

  isIdle(): boolean {
    return this.#usedAt < this.#now() - IDLE_MS;
  }
}
