import { coalesce } from '../lib/coalesce.ts';
import { Emitter } from '../lib/emitter.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { Database, StoreLog } from '../storage/database.ts';
import { holds } from './era-memory.ts';
import type { EraMemory, EraVerdict } from './era-memory.ts';
import { reconcile } from './listing-rows.ts';
import { saysTheSame } from './listing.ts';
import type { Listing } from './listing.ts';
import { writeWarm } from './warm-file.ts';
import type { RememberedConfig, WarmState } from './warm-file.ts';

/** As much of an upstream's config as the catalog needs. */
export interface UpstreamIdentity {
  readonly name: UpstreamName;
  readonly fingerprint: Fingerprint;
}

export interface ListingCacheOptions {
  readonly stateDir: string;
  /** Of the program as it was built. */
  readonly build: string;
  /** What `readWarm` gave. */
  readonly warm: WarmState | undefined;
  /** Called when there is something to store, or nothing warm to start from. */
  readonly database: () => Promise<Database>;
  /** Whether there can be anything in it. */
  readonly isStored: () => boolean;
  readonly now: () => number;
  readonly log?: StoreLog;
  readonly saveAfterMs?: number;
}

/** When those that start together were listed: writing in their midst took 6 % of the CPU of a first start. */
const SAVE_AFTER_MS = 2_000;
const NOT_STORED = 'Listings cannot be stored in the database.';
const NOT_WRITTEN = 'The catalog for a warm start cannot be written.';

/**
 * Keeps listings and eras across restarts: in the database, which is the store, and in a file that a warm start reads
 * in its place. Trouble with either is logged and fails nobody.
 */
export class ListingCache implements AsyncDisposable {
  /** Listings of another process, newer than ours, that came to light when the database was opened. */
  readonly events: Emitter<{ found: readonly Listing[] }>;
  readonly eras: EraMemory = {
    recall: (config) => this.#recall(config),
    remember: (config, { era, protocol }) =>
      this.#remember(config, { era, protocol, at: this.#options.now() }),
  };

  readonly #options: ListingCacheOptions;
  readonly #listings: Map<UpstreamName, Listing>;
  readonly #eras: Map<Fingerprint, EraVerdict>;
  readonly #write = coalesce(() => this.#writeNow());
  #wanted: ReadonlyMap<UpstreamName, Fingerprint> = new Map();
  #config: RememberedConfig | undefined;
  /** Whether the database, and the file, have what we have. */
  #isStored: boolean;
  #isWarm = true;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** What was reported last, by the message; until it works again or is another trouble. */
  readonly #troubles = new Map<string, string>();

  constructor(options: ListingCacheOptions) {
    const { warm } = options;
    this.#options = options;
    this.#listings = new Map(warm?.listings.map((listing) => [listing.upstream, listing]));
    this.#eras = new Map(warm?.eras);
    this.#config = warm?.config;
    this.#isStored = warm?.isStored ?? false;
    this.events = new Emitter((error) => this.#report('A listener of the listing cache failed.', error));
  }

  /** Gives the listings that fit these upstreams and forgets all others. Without `await` inside on a warm start. */
  async restore(upstreams: readonly UpstreamIdentity[]): Promise<readonly Listing[]> {
    this.keep(upstreams);
    if (this.#options.warm === undefined) {
      if (this.#options.isStored()) await this.#store();
      this.#change();
    }
    return [...this.#listings.values()];
  }

  /** Forgets what was listed with another config than these. */
  keep(upstreams: readonly UpstreamIdentity[]): void {
    this.#wanted = new Map(upstreams.map(({ name, fingerprint }) => [name, fingerprint]));
    const configs = new Set(this.#wanted.values());
    const listings = [...this.#listings.values()].filter(
      ({ upstream, config }) => this.#wanted.get(upstream) !== config,
    );
    const eras = [...this.#eras.keys()].filter((config) => !configs.has(config));
    for (const { upstream } of listings) this.#listings.delete(upstream);
    for (const config of eras) this.#eras.delete(config);
    if (listings.length + eras.length === 0) return;
    this.#isStored = false;
    this.#change();
  }

  save(listing: Listing): void {
    if (this.#wanted.get(listing.upstream) !== listing.config) return;
    const before = this.#listings.get(listing.upstream);
    this.#listings.set(listing.upstream, listing);
    // When only the time differs, the database need not be opened for it.
    if (before === undefined || !saysTheSame(before, listing)) this.#isStored = false;
    this.#change();
  }

  /** Kept for the next warm start. */
  rememberConfig(config: RememberedConfig): void {
    if (config.revision === this.#config?.revision && config.snapshot === this.#config.snapshot) return;
    this.#config = config;
    this.#change();
  }

  /** Another process has stored something, or the database is back; never rejects. */
  async look(): Promise<void> {
    if (this.#isClosed) return;
    const found = await this.#store();
    if (found.length > 0) this.events.emit('found', found);
    this.#change();
  }

  /** Writes what is not written yet; never rejects. */
  flush(): Promise<void> {
    return this.#write();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#write();
  }

  #recall(config: Fingerprint): EraVerdict | undefined {
    const verdict = this.#eras.get(config);
    return verdict !== undefined && holds(verdict, this.#options.now()) ? verdict : undefined;
  }

  #remember(config: Fingerprint, verdict: EraVerdict): void {
    const before = this.#eras.get(config);
    const isSame = before?.era === verdict.era && before.protocol === verdict.protocol;
    if (isSame && holds(before, verdict.at)) return;
    this.#eras.set(config, verdict);
    if (!isSame) this.#isStored = false;
    this.#change();
  }

  #change(): void {
    this.#isWarm = false;
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#write(), this.#options.saveAfterMs ?? SAVE_AFTER_MS).unref();
  }

  async #writeNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#isStored && !this.#isWarm) {
      const found = await this.#store();
      if (found.length > 0) this.events.emit('found', found);
    }
    if (!this.#isWarm) await this.#writeWarm();
  }

  /** Gives what the database knew better. */
  async #store(): Promise<readonly Listing[]> {
    try {
      const database = await this.#options.database();
      this.#isStored = true; // Before the work, so that a change during the work is not lost.
      const known = { listings: this.#listings, eras: this.#eras };
      const found = await reconcile(database, known, { wanted: this.#wanted, now: this.#options.now() });
      this.#troubles.delete(NOT_STORED);
      for (const [config, verdict] of found.eras) {
        if (isNewer(verdict, this.#eras.get(config))) this.#eras.set(config, verdict);
      }
      // The config, and what we know, may have changed during the work.
      const better = [...found.listings.values()].filter(
        (listing) =>
          this.#wanted.get(listing.upstream) === listing.config &&
          isNewer(listing, this.#listings.get(listing.upstream)),
      );
      for (const listing of better) this.#listings.set(listing.upstream, listing);
      return better;
    } catch (error) {
      this.#isStored = false;
      this.#report(NOT_STORED, error);
      return [];
    }
  }

  async #writeWarm(): Promise<void> {
    this.#isWarm = true; // Before the work, so that a change during the work is not lost.
    try {
      await writeWarm(this.#options.stateDir, this.#options.build, {
        config: this.#config,
        listings: [...this.#listings.values()],
        eras: this.#eras,
        isStored: this.#isStored,
      });
      this.#troubles.delete(NOT_WRITTEN);
    } catch (error) {
      this.#isWarm = false;
      this.#report(NOT_WRITTEN, error);
    }
  }

  /** Once per kind of trouble: a full disk is full at every attempt. */
  #report(message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    // The message of a failed write names a temporary file, another one each time.
    const kind = error instanceof Error && 'errno' in error ? String(error.errno) : reason;
    if (this.#troubles.get(message) === kind) return;
    this.#troubles.set(message, kind);
    this.#options.log?.warn(message, { reason });
  }
}

function isNewer(one: { readonly at: number }, other: { readonly at: number } | undefined): boolean {
  return other === undefined || one.at > other.at;
}
