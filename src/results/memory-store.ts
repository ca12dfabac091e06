import { randomBytes } from 'node:crypto';
import type { Found, KeptResult, ResultStore } from './result-store.ts';

interface StoreOptions {
  /** After the last look at it. */
  readonly keepMs: number;
  readonly maxBytes: number;
  readonly maxCount: number;
  readonly now: () => number;
}

interface Kept extends KeptResult {
  readonly owner: string;
  readonly bytes: number;
  expiresAt: number;
}

/** Ids of results that are gone, for telling their owners so. */
const MAX_GONE = 1_000;
/** 96 bits, which nobody guesses. */
const ID_BYTES = 12;

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Results in memory: they live for minutes, and what tools answer is not for a disk. */
export class MemoryStore implements ResultStore, Disposable {
  #options: StoreOptions;
  /** The longest unused first, which is also the order in which they expire. */
  readonly #kept = new Map<string, Kept>();
  readonly #gone = new Map<string, string>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StoreOptions) {
    this.#options = options;
  }

  adjust({ keepMs, maxBytes }: Pick<StoreOptions, 'keepMs' | 'maxBytes'>): void {
    this.#options = { ...this.#options, keepMs, maxBytes };
  }

  async keep(owner: string, text: string): Promise<KeptResult | undefined> {
    const { maxBytes, maxCount, keepMs, now } = this.#options;
    // Small ones count as if they were larger, so that the bound of bytes bounds their number as well.
    const bytes = Math.max(Buffer.byteLength(text), maxBytes / maxCount);
    if (bytes > maxBytes) return undefined;
    this.#expire();
    while (this.#bytes + bytes > maxBytes) this.#evict(owner, bytes);
    const id = `r_${randomBytes(ID_BYTES).toString('base64url')}`;
    const kept: Kept = { id, text, owner, bytes, expiresAt: now() + keepMs };
    this.#kept.set(id, kept);
    this.#count(owner, bytes);
    this.#wake();
    return kept;
  }

  async find(owner: string, id: string): Promise<Found> {
    this.#expire();
    const kept = this.#kept.get(id);
    if (kept === undefined) return { state: this.#gone.get(id) === owner ? 'gone' : 'unknown' };
    if (kept.owner !== owner) return { state: 'unknown' };
    kept.expiresAt = this.#options.now() + this.#options.keepMs;
    this.#kept.delete(id);
    this.#kept.set(id, kept);
    return { state: 'kept', result: kept };
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#kept.clear();
    this.#bytesOf.clear();
    this.#bytes = 0;
  }

  /** Whoever has most gives up first, so that nobody pushes out what others keep. */
  #evict(owner: string, bytes: number): void {
    let [most, victim] = [0, owner];
    for (const [name, has] of this.#bytesOf) {
      const size = name === owner ? has + bytes : has;
      if (size > most) [most, victim] = [size, name];
    }
    for (const kept of this.#kept.values()) if (kept.owner === victim) return this.#drop(kept);
  }

  #expire(): void {
    const now = this.#options.now();
    for (const kept of this.#kept.values()) {
      if (kept.expiresAt > now) return;
      this.#drop(kept);
    }
  }

  #drop({ id, owner, bytes }: Kept): void {
    this.#kept.delete(id);
    this.#count(owner, -bytes);
    this.#gone.set(id, owner);
    if (this.#gone.size > MAX_GONE) this.#gone.delete(this.#gone.keys().next().value as string); // It is not empty.
  }

  #count(owner: string, bytes: number): void {
    this.#bytes += bytes;
    const left = (this.#bytesOf.get(owner) ?? 0) + bytes;
    if (left <= 0) this.#bytesOf.delete(owner);
    else this.#bytesOf.set(owner, left);
  }

  /** Memory is given back also when nobody asks any more. */
  #wake(): void {
    const [first] = this.#kept.values();
    if (this.#timer !== undefined || first === undefined) return;
    // A longer timer than that would fire at once, again and again.
    const inMs = Math.min(Math.max(1, first.expiresAt - this.#options.now()), LONGEST_TIMER_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#expire();
      this.#wake();
    }, inMs).unref();
  }
}
