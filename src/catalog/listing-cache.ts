import { coalesce } from '../core/lib/coalesce.ts';
import { Emitter } from '../core/lib/emitter.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import type { Database, StoreLog } from '../core/storage/database.ts';
import { isEraVerdictValid } from './era-verdict-cache.ts';
import type { EraVerdictCache, EraVerdict } from './era-verdict-cache.ts';
import { reconcileRows } from './listing-rows.ts';
import { isSameListing } from './listing.ts';
import type { Listing } from './listing.ts';
import { writeWarmFile } from './warm-file.ts';
import type { RememberedConfig, WarmState } from './warm-file.ts';

/** The parts of an upstream's configuration that the catalog needs. */
export interface UpstreamIdentity {
  readonly name: UpstreamName;
  readonly fingerprint: Fingerprint;
}

export interface ListingCacheOptions {
  readonly stateDir: string;
  /** The build id of the program; a warm file of another build is not used. */
  readonly build: string;
  /** The result of `readWarmFile`. */
  readonly warm: WarmState | undefined;
  /** Opens the database. A warm start calls this only when there is something to store or to reload. */
  readonly database: () => Promise<Database>;
  /** Whether the database can contain listings; if not, `restore` does not open it. */
  readonly isStored: () => boolean;
  readonly now: () => number;
  readonly log?: StoreLog;
  /** The delay between a change and its write. */
  readonly saveAfterMs?: number;
}

/**
 * The default delay of writes. With it, one write covers all servers that start together. Writing at once
 * took 6 % of the CPU time of a first start.
 */
const SAVE_AFTER_MS = 2_000;
const DATABASE_FAILED =
  'Cannot store listings in the database; they are kept in memory until it works again.';
const FILE_FAILED = 'Cannot write catalog.json; the next start will be slower.';

/**
 * Keeps listings and eras across restarts: in the database, which is authoritative, and in a file that a warm start reads
 * instead. Failures of the database and the file are logged and never reach callers.
 */
export class ListingCache implements AsyncDisposable {
  /** `found` is emitted with listings that another process stored in the database and that are newer than ours. */
  readonly events: Emitter<{ found: readonly Listing[] }>;
  readonly eras: EraVerdictCache = {
    recall: (config) => this.#recall(config),
    remember: (config, { era, protocol }) =>
      this.#remember(config, { era, protocol, at: this.#options.now() }),
  };

  readonly #options: ListingCacheOptions;
  readonly #listings: Map<UpstreamName, Listing>;
  readonly #eras: Map<Fingerprint, EraVerdict>;
  readonly #write = coalesce(() => this.#writeNow());
  #configured: ReadonlyMap<UpstreamName, Fingerprint> = new Map();
  #config: RememberedConfig | undefined;
  /** Whether the database is up to date. */
  #isStored: boolean;
  /** Whether the warm file is up to date. */
  #isWarm = true;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /**
   * The last logged reason for each message. An unchanged reason is not logged again until the problem is
   * resolved.
   */
  readonly #reportedProblems = new Map<string, string>();

  constructor(options: ListingCacheOptions) {
    const { warm } = options;
    this.#options = options;
    this.#listings = new Map(warm?.listings.map((listing) => [listing.upstream, listing]));
    this.#eras = new Map(warm?.eras);
    this.#config = warm?.config;
    this.#isStored = warm?.isStored ?? false;
    this.events = new Emitter((error) => this.#report('A listener of the listing cache failed.', error));
  }

  /** Returns the listings of these upstreams and forgets all others. A warm start does not wait for the database. */
  async restore(upstreams: readonly UpstreamIdentity[]): Promise<readonly Listing[]> {
    this.retain(upstreams);
    if (this.#options.warm === undefined) {
      if (this.#options.isStored()) await this.#store();
      this.#scheduleWrite();
    }
    return [...this.#listings.values()];
  }

  /** Forgets listings and eras of upstreams that are not among these. */
  retain(upstreams: readonly UpstreamIdentity[]): void {
    this.#configured = new Map(upstreams.map(({ name, fingerprint }) => [name, fingerprint]));
    const configs = new Set(this.#configured.values());
    const listings = [...this.#listings.values()].filter(
      ({ upstream, config }) => this.#configured.get(upstream) !== config,
    );
    const eras = [...this.#eras.keys()].filter((config) => !configs.has(config));
    for (const { upstream } of listings) this.#listings.delete(upstream);
    for (const config of eras) this.#eras.delete(config);
    if (listings.length + eras.length === 0) return;
    this.#isStored = false;
    this.#scheduleWrite();
  }

  /** Whether there is a listing of the upstream with this configuration. */
  has({ name, fingerprint }: UpstreamIdentity): boolean {
    return this.#listings.get(name)?.config === fingerprint;
  }

  /** Schedules a write of the listing. Ignores listings of another configuration. */
  save(listing: Listing): void {
    if (this.#configured.get(listing.upstream) !== listing.config) return;
    const before = this.#listings.get(listing.upstream);
    this.#listings.set(listing.upstream, listing);
    // If only the time differs, the database need not be opened.
    if (before === undefined || !isSameListing(before, listing)) this.#isStored = false;
    this.#scheduleWrite();
  }

  /** Stores the configuration for the next warm start. */
  rememberConfig(config: RememberedConfig): void {
    if (config.revision === this.#config?.revision && config.snapshot === this.#config.snapshot) return;
    this.#config = config;
    this.#scheduleWrite();
  }

  /** Reads the database after another process has changed it or after it is available again; never rejects. */
  async reload(): Promise<void> {
    if (this.#isClosed) return;
    const found = await this.#store();
    if (found.length > 0) this.events.emit('found', found);
    this.#scheduleWrite();
  }

  /** Writes pending changes; never rejects. */
  flush(): Promise<void> {
    return this.#write();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#write();
  }

  #recall(config: Fingerprint): EraVerdict | undefined {
    const verdict = this.#eras.get(config);
    return verdict !== undefined && isEraVerdictValid(verdict, this.#options.now()) ? verdict : undefined;
  }

  #remember(config: Fingerprint, verdict: EraVerdict): void {
    const before = this.#eras.get(config);
    const isSame = before?.era === verdict.era && before.protocol === verdict.protocol;
    if (isSame && isEraVerdictValid(before, verdict.at)) return;
    this.#eras.set(config, verdict);
    if (!isSame) this.#isStored = false;
    this.#scheduleWrite();
  }

  #scheduleWrite(): void {
    this.#isWarm = false;
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#write(), this.#options.saveAfterMs ?? SAVE_AFTER_MS).unref();
  }

  async #writeNow(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // After a failed store, `#isWarm` prevents further attempts until something changes or `reload` is called.
    if (!this.#isStored && !this.#isWarm) {
      const found = await this.#store();
      if (found.length > 0) this.events.emit('found', found);
    }
    if (!this.#isWarm) await this.#writeWarm();
  }

  /** Reconciles with the database and returns its newer listings. */
  async #store(): Promise<readonly Listing[]> {
    try {
      const database = await this.#options.database();
      this.#isStored = true; // Set first, so a change during the write is not lost.
      const known = { listings: this.#listings, eras: this.#eras };
      const found = await reconcileRows(database, known, {
        configured: this.#configured,
        now: this.#options.now(),
      });
      this.#reportedProblems.delete(DATABASE_FAILED);
      for (const [config, verdict] of found.eras) {
        if (isNewer(verdict, this.#eras.get(config))) this.#eras.set(config, verdict);
      }
      // The configuration and our listings may have changed during the transaction.
      const newer = [...found.listings.values()].filter(
        (listing) =>
          this.#configured.get(listing.upstream) === listing.config &&
          isNewer(listing, this.#listings.get(listing.upstream)),
      );
      for (const listing of newer) this.#listings.set(listing.upstream, listing);
      return newer;
    } catch (error) {
      this.#isStored = false;
      this.#report(DATABASE_FAILED, error);
      return [];
    }
  }

  async #writeWarm(): Promise<void> {
    this.#isWarm = true; // Set first, so a change during the write is not lost.
    try {
      await writeWarmFile(this.#options.stateDir, this.#options.build, {
        config: this.#config,
        listings: [...this.#listings.values()],
        eras: this.#eras,
        isStored: this.#isStored,
      });
      this.#reportedProblems.delete(FILE_FAILED);
    } catch (error) {
      this.#isWarm = false;
      this.#report(FILE_FAILED, error);
    }
  }

  /** Logs a problem once: a full disk fails at every attempt. */
  #report(message: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    // The message of a failed write contains a different temporary file name each time.
    const kind = error instanceof Error && 'errno' in error ? String(error.errno) : reason;
    if (this.#reportedProblems.get(message) === kind) return;
    this.#reportedProblems.set(message, kind);
    this.#options.log?.warn(message, { reason });
  }
}

function isNewer(one: { readonly at: number }, other: { readonly at: number } | undefined): boolean {
  return other === undefined || one.at > other.at;
}
