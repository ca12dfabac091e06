import { Slots } from '../../core/lib/slots.ts';
import { TokenBucket } from '../../core/lib/token-bucket.ts';
import type { Database } from '../../core/storage/database.ts';
import type { Logger } from '../../observability/log.ts';
import { releaseShares, updateShares } from './share-store.ts';
import type { ShareClaim } from './share-store.ts';

interface FleetSharesOptions {
  readonly database: () => Promise<Database>;
  readonly replica: string;
  readonly now: () => number;
  readonly log: Logger;
  readonly leaseMs?: number;
  readonly everyMs?: number;
}

/** A limit of which this gateway has a share. Reading `wanted` starts a new measurement of the demand. */
interface SharedLimit extends ShareClaim {
  limit: number;
  /** Whether no call has used the limit for `IDLE_MS`. */
  isIdle(): boolean;
}

/** Time after the last update for which the shares of a gateway stay reserved. */
const LEASE_MS = 30_000;
/** Normal interval between updates of the shares. */
const UPDATE_MS = 1000;
/** Update interval while calls wait for capacity that other gateways may release. */
const URGENT_UPDATE_MS = 100;
/** Time without calls after which the limit of a caller is removed, and its share returned. */
const IDLE_MS = 60_000;
/** Maximum number of limits in memory; the oldest is dropped. */
const MAX_LIMITS = 10_000;

/**
 * Manages this gateway's shares of the limits that all gateways on one database count together. The shares are adapted to the demand in
 * the background, so a call reads only memory.
 */
export class FleetShares implements AsyncDisposable {
  readonly #options: FleetSharesOptions;
  readonly #limits = new Map<string, SharedConcurrency | SharedRate>();
  #timer: NodeJS.Timeout | undefined;
  /** When the next update starts, on the monotonic clock; Infinity if none is scheduled. */
  #dueAt = Infinity;
  #update: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: FleetSharesOptions) {
    this.#options = options;
  }

  /** Returns the shared limit for calls that run at the same time. */
  concurrency(name: string, limit: number, maxWaiting: number): SharedConcurrency {
    const key = `places ${name}`;
    const known = this.#limits.get(key);
    const shared =
      known instanceof SharedConcurrency && known.maxWaiting === maxWaiting
        ? known
        : this.#add(key, new SharedConcurrency(key, maxWaiting, this.#options.now));
    shared.limit = limit;
    return shared;
  }

  /** Returns the shared limit for calls per minute. */
  rate(name: string, limit: number): SharedRate {
    const key = `rate ${name}`;
    const known = this.#limits.get(key);
    const shared =
      known instanceof SharedRate ? known : this.#add(key, new SharedRate(key, this.#options.now));
    shared.limit = limit;
    return shared;
  }

  /** Schedules an update within `URGENT_UPDATE_MS`, because a call needs more than this gateway's share. */
  requestMore(): void {
    this.#scheduleUpdate(URGENT_UPDATE_MS);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#update;
    if (this.#limits.size === 0) return;
    const { replica } = this.#options;
    try {
      await releaseShares({ database: await this.#options.database(), replica });
    } catch {
      // The shares return to the other gateways when the lease expires.
    }
  }

  #add<T extends SharedConcurrency | SharedRate>(key: string, shared: T): T {
    if (this.#limits.size >= MAX_LIMITS) this.#limits.delete(this.#limits.keys().next().value ?? '');
    this.#limits.set(key, shared);
    this.#scheduleUpdate(0);
    return shared;
  }

  /** Schedules an update in `ms`, unless an earlier one is scheduled or running. */
  #scheduleUpdate(ms: number): void {
    const at = performance.now() + ms;
    if (this.#isClosed || at >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = at;
    this.#timer = setTimeout(() => {
      // #dueAt stays in the past until the update has ended, so no second update starts at the same time.
      this.#update = this.#updateShares();
    }, ms).unref();
  }

  async #updateShares(): Promise<void> {
    const { replica, leaseMs = LEASE_MS, everyMs = UPDATE_MS, log } = this.#options;
    let isShort = false;
    try {
      const database = await this.#options.database();
      await releaseShares({ database, replica }, this.#removeIdleLimits());
      if (this.#limits.size > 0)
        isShort = await updateShares({ database, replica, leaseMs }, [...this.#limits.values()]);
      this.#isFailing = false;
    } catch (error) {
      // This gateway keeps its shares: without the database, no other gateway can claim them.
      if (!this.#isFailing)
        log.warn('Cannot update the fleet-wide limits; this gateway keeps its present shares.', {
          reason: String(error),
        });
      this.#isFailing = true;
    }
    this.#dueAt = Infinity;
    if (this.#limits.size > 0) this.#scheduleUpdate(isShort ? URGENT_UPDATE_MS : everyMs);
  }

  /** Removes idle limits of callers and returns their names. Limits of servers stay, so that the next call need not wait for a share. */
  #removeIdleLimits(): readonly string[] {
    const idle = [...this.#limits]
      .filter(([key, shared]) => shared.isIdle() && !key.includes(' server '))
      .map(([key]) => key);
    for (const key of idle) this.#limits.delete(key);
    return idle;
  }
}

/** Limits the calls that run at the same time to this gateway's share. */
export class SharedConcurrency implements SharedLimit {
  readonly name: string;
  readonly maxWaiting: number;
  readonly #slots: Slots;
  readonly #now: () => number;
  limit = 0;
  share = 0;
  /** The highest demand since the last read of `wanted`. */
  #peak = 0;
  #usedAt: number;

  constructor(name: string, maxWaiting: number, now: () => number) {
    this.name = name;
    this.maxWaiting = maxWaiting;
    this.#slots = new Slots({ width: 0, maxWaiting });
    this.#now = now;
    this.#usedAt = now();
  }

  /** The slots of this gateway. Reading them counts as demand for one more slot. */
  get slots(): Slots {
    this.#usedAt = this.#now();
    this.#peak = Math.max(this.#peak, this.#slots.inUse + this.#slots.waiting + 1);
    return this.#slots;
  }

  /** The highest demand since the last read. Reading it resets the peak to the current demand. */
  get wanted(): number {
    const current = this.#slots.inUse + this.#slots.waiting;
    const wanted = Math.min(this.limit, Math.max(current, this.#peak));
    this.#peak = current;
    return wanted;
  }

  get inUse(): number {
    return this.#slots.inUse;
  }

  applyShare(share: number): void {
    this.share = share;
    this.#slots.resize(share);
  }

  isIdle(): boolean {
    return this.#slots.inUse + this.#slots.waiting === 0 && this.#usedAt < this.#now() - IDLE_MS;
  }
}

/** A token bucket that refills at this gateway's share of a rate. */
export class SharedRate implements SharedLimit {
  readonly name: string;
  /** A rate can always be given away, because no call occupies it. */
  readonly inUse = 0;
  readonly #bucket: TokenBucket;
  readonly #now: () => number;
  limit = 0;
  share = 0;
  /** Number of calls since `#countedFrom`. */
  #demand = 0;
  #demandPerMinute = 0;
  #countedFrom: number;
  #usedAt: number;

  constructor(name: string, now: () => number) {
    this.name = name;
    this.#now = now;
    this.#countedFrom = now();
    this.#usedAt = now();
    this.#bucket = new TokenBucket({ perMinute: 0, now });
    // A new bucket contains a token even for a rate of 0; `adjust` removes it.
    this.#bucket.adjust(0);
  }

  /** Counts a call as demand, whether or not it is admitted. */
  recordDemand(): void {
    this.#demand++;
    this.#usedAt = this.#now();
  }

  /** Returns the milliseconds until a call is admitted; Infinity without a share. */
  peek(): number {
    return this.#bucket.peek();
  }

  take(): void {
    this.#bucket.take();
  }

  /**
   * The wanted calls per minute: 1.5 times the recent demand, because refused calls may be retried. A higher earlier value decays by a
   * fifth per measurement. Reading it ends a measurement if at least one call was counted, or after `UPDATE_MS`.
   */
  get wanted(): number {
    const elapsedMs = Math.max(1, this.#now() - this.#countedFrom);
    if (elapsedMs >= UPDATE_MS || this.#demand > 0) {
      const latest = (this.#demand * 60_000) / Math.max(UPDATE_MS, elapsedMs);
      this.#demandPerMinute = Math.max(latest * 1.5, this.#demandPerMinute * 0.8);
      if (this.#demandPerMinute < 1) this.#demandPerMinute = 0;
      this.#demand = 0;
      this.#countedFrom = this.#now();
    }
    return Math.min(this.limit, Math.ceil(this.#demandPerMinute));
  }

  applyShare(share: number): void {
    this.share = share;
    this.#bucket.adjust(share);
  }

  isIdle(): boolean {
    return this.#usedAt < this.#now() - IDLE_MS;
  }
}
