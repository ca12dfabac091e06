import { randomBytes } from 'node:crypto';
import type { ResultLookup, StoredResult, ResultStore } from './result-store.ts';

interface StoreOptions {
  /** Time for which a result is kept after it was last read. */
  readonly keepMs: number;
  readonly maxBytes: number;
  /** The maximum number of results. */
  readonly maxCount: number;
  readonly now: () => number;
}

interface OwnedResult extends StoredResult {
  readonly owner: string;
  readonly bytes: number;
  expiresAt: number;
}

/** The number of removed ids that are remembered, to tell their owners that the result existed. */
const MAX_REMOVED_IDS = 1_000;
/** 12 random bytes (96 bits), so that ids cannot be guessed. */
const ID_BYTES = 12;
/** Node.js fires a timer at once if its delay is longer than this. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Keeps results in memory: they live for minutes, and tool results may be too sensitive for a disk. */
export class MemoryResultStore implements ResultStore, Disposable {
  #options: StoreOptions;
  /** Least recently used first. This is also the order of expiry, unless `adjust` has shortened `keepMs` since. */
  readonly #results = new Map<string, OwnedResult>();
  /** Owners of removed results, by id. */
  readonly #removed = new Map<string, string>();
  readonly #bytesByOwner = new Map<string, number>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  adjust({ keepMs, maxBytes }: Pick<StoreOptions, 'keepMs' | 'maxBytes'>): void {
    this.#options = { ...this.#options, keepMs, maxBytes };
  }

  async keep(owner: string, text: string): Promise<StoredResult | undefined> {
    const { maxBytes, maxCount, keepMs, now } = this.#options;
    // Every result counts as at least `maxBytes / maxCount` bytes, so the byte limit also limits the number of results.
    const bytes = Math.max(Buffer.byteLength(text), maxBytes / maxCount);
    if (bytes > maxBytes) return undefined;
    this.#expire();
    while (this.#bytes + bytes > maxBytes) this.#evict(owner, bytes);
    const id = `r_${randomBytes(ID_BYTES).toString('base64url')}`;
    const result: OwnedResult = { id, text, owner, bytes, expiresAt: now() + keepMs };
    this.#results.set(id, result);
    this.#addBytes(owner, bytes);
    this.#scheduleExpiry();
    return result;
  }

  async find(owner: string, id: string): Promise<ResultLookup> {
    this.#expire();
    const result = this.#results.get(id);
    if (result === undefined) return { state: this.#removed.get(id) === owner ? 'gone' : 'unknown' };
    if (result.owner !== owner) return { state: 'unknown' };
    // Reading renews the expiry and moves the result to the end of the map.
    result.expiresAt = this.#options.now() + this.#options.keepMs;
    this.#results.delete(id);
    this.#results.set(id, result);
    return { state: 'kept', result };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#results.clear();
    this.#bytesByOwner.clear();
    this.#bytes = 0;
  }

  /**
   * Evicts the least recently used result of the owner with the most bytes, including the `bytes` that `owner` is about to add. So one
   * owner cannot push out the results of others.
   */
  #evict(owner: string, bytes: number): void {
    let [mostBytes, largestOwner] = [0, owner];
    for (const [name, ownedBytes] of this.#bytesByOwner) {
      const size = name === owner ? ownedBytes + bytes : ownedBytes;
      if (size > mostBytes) [mostBytes, largestOwner] = [size, name];
    }
    for (const result of this.#results.values())
      if (result.owner === largestOwner) return this.#remove(result);
  }

  #expire(): void {
    const now = this.#options.now();
    for (const result of this.#results.values()) {
      if (result.expiresAt > now) return;
      this.#remove(result);
    }
  }

  #remove({ id, owner, bytes }: OwnedResult): void {
    this.#results.delete(id);
    this.#addBytes(owner, -bytes);
    this.#removed.set(id, owner);
    // The map is not empty, so its first key is a string.
    if (this.#removed.size > MAX_REMOVED_IDS)
      this.#removed.delete(this.#removed.keys().next().value as string);
  }

  #addBytes(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const ownedBytes = (this.#bytesByOwner.get(owner) ?? 0) + bytes;
    if (ownedBytes <= 0) this.#bytesByOwner.delete(owner);
    else this.#bytesByOwner.set(owner, ownedBytes);
  }

  /** Starts a timer for the next expiry, which frees memory even if no further request arrives. */
  #scheduleExpiry(): void {
    const [first] = this.#results.values();
    if (this.#timer !== undefined || first === undefined) return;
    const delayMs = Math.min(Math.max(1, first.expiresAt - this.#options.now()), MAX_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#expire();
      this.#scheduleExpiry();
    }, delayMs).unref();
  }
}
