import { Emitter } from '../lib/emitter.ts';
import { deferred } from '../lib/deferred.ts';
import type { Deferred } from '../lib/deferred.ts';
import type { Cancellation } from '../lib/cancellation.ts';
import { whileTheyCome } from '../lib/while-they-come.ts';
import type { ComingOptions } from '../lib/while-they-come.ts';
import { GatewayError } from '../model/errors.ts';
import type { PromptEntry, ToolEntry } from '../model/entry.ts';
import type { HeldReason, Judgement } from '../model/held.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import type { StoreLog } from '../storage/database.ts';
import type { ListingCache, UpstreamIdentity } from './listing-cache.ts';
import { offersTheSame, saysTheSame, withKnownEntries } from './listing.ts';
import type { Listing } from './listing.ts';
import { Refresh } from './refresh.ts';
import { alone, merge } from './snapshot.ts';
import type { MergeOptions, Snapshot } from './snapshot.ts';

/** Lists an upstream, connecting to it where needed; `known` is what it offered last. */
export interface ListingSource {
  list(upstream: UpstreamName, cancellation: Cancellation, known?: Listing): Promise<Listing>;
}

/** Decides what of a listing may be shown, before anybody is shown anything of it. */
export interface Judge {
  /** Equal as long as an earlier judgement about the same offer holds. */
  basis(upstream: UpstreamName): string;
  /** `before` is what was last shown of the upstream. */
  judge(listing: Listing, before: Listing | undefined): Promise<Judgement>;
}

export interface CatalogOptions extends MergeOptions {
  readonly source: ListingSource;
  /** Without one, everything may be shown. */
  readonly judge?: Judge | undefined;
  readonly cache: Pick<ListingCache, 'restore' | 'keep' | 'save' | 'events'>;
  readonly now: () => number;
  readonly log?: StoreLog;
}

interface Known {
  readonly config: Fingerprint;
  readonly refresh: Refresh;
  /** Resolved when there is a listing, or the first attempt to get one has failed. */
  readonly settled: Deferred<void>;
  isSettled: boolean;
  listing: Listing | undefined;
}

/** The owner of all listings. */
export class Catalog implements AsyncDisposable {
  /** Emitted only when a client could see a difference. */
  readonly events: Emitter<{ changed: { readonly before: Snapshot; readonly after: Snapshot } }>;

  readonly #options: CatalogOptions;
  readonly #known = new Map<UpstreamName, Known>();
  #merging: MergeOptions;
  #current: Snapshot;
  #alone = new WeakMap<Listing, Snapshot>();
  #listening: Disposable | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#merging = options;
    this.#current = merge([], options);
    this.events = new Emitter((error) =>
      options.log?.warn('A listener of the catalog failed.', { reason: String(error) }),
    );
  }

  /** The same object as long as nothing but the time of listings has changed. */
  get current(): Snapshot {
    return this.#current;
  }

  /** Takes over what was listed with these configs in earlier runs. */
  async restore(upstreams: readonly UpstreamIdentity[]): Promise<void> {
    const { cache } = this.#options;
    this.#listening ??= cache.events.on('found', (listings) => void this.#adoptFound(listings));
    this.#identify(upstreams);
    const listings = await cache.restore(upstreams);
    const isJudged = (listing: Listing): boolean =>
      this.#options.judge === undefined ||
      listing.judged?.basis === this.#options.judge.basis(listing.upstream);
    // What was judged in an earlier run is shown at once; a warm start waits for nothing.
    this.#adopt(listings.filter(isJudged));
    const rest = listings.filter((listing) => !isJudged(listing));
    if (rest.length > 0)
      this.#adopt(await Promise.all(rest.map((listing) => this.#judged(listing, listing))));
  }

  /** What may be shown has changed: judges anew what these upstreams, or all, were listed with. */
  async judgeAgain(upstreams: readonly UpstreamName[] = [...this.#known.keys()]): Promise<void> {
    const { judge, cache } = this.#options;
    if (judge === undefined) return;
    let isChanged = false;
    for (const name of upstreams) {
      const known = this.#known.get(name);
      const before = known?.listing;
      if (known === undefined || before === undefined) continue;
      const judged = await judge.judge(before, before);
      // Whatever replaced it meanwhile was judged by what holds now.
      if (known.listing !== before) continue;
      const after = { ...before, judged };
      if (saysTheSame(before, after)) continue;
      known.listing = after;
      cache.save(after);
      isChanged = true;
    }
    if (isChanged) this.#publish();
  }

  /** The config has changed: keeps the listings whose upstreams are as before. */
  apply(upstreams: readonly UpstreamIdentity[], merging?: MergeOptions): void {
    this.#identify(upstreams);
    this.#options.cache.keep(upstreams);
    this.#merging = merging ?? this.#merging;
    this.#alone = new WeakMap();
    this.#publish();
  }

  drop(upstream: UpstreamName): void {
    const rest = [...this.#known].filter(([name]) => name !== upstream);
    this.apply(rest.map(([name, { config }]) => ({ name, fingerprint: config })));
  }

  /**
   * Lists an upstream again, coalesced with others who ask. When that fails, the last listing stays. An upstream that
   * has meanwhile left the config is nothing to refresh.
   */
  async refresh(upstream: UpstreamName, cancellation: Cancellation): Promise<void> {
    await this.#known.get(upstream)?.refresh.request(cancellation);
  }

  has(upstream: UpstreamName): boolean {
    return this.listing(upstream) !== undefined;
  }

  listing(upstream: UpstreamName): Listing | undefined {
    return this.#known.get(upstream)?.listing;
  }

  /** What one upstream offers, by itself; the same object while it is listed the same. */
  alone(upstream: UpstreamName): Snapshot | undefined {
    const listing = this.listing(upstream);
    if (listing === undefined) return undefined;
    let snapshot = this.#alone.get(listing);
    if (snapshot === undefined) this.#alone.set(listing, (snapshot = alone(listing, this.#merging)));
    return snapshot;
  }

  /** Why a tool or prompt of an upstream is held by now; undefined when it may be used. */
  heldReason({ upstream, kind, definition }: ToolEntry | PromptEntry): HeldReason | undefined {
    const judged = this.listing(upstream)?.judged;
    const held = kind === 'tool' ? judged?.tools : judged?.prompts;
    if (held === undefined || held.length === 0) return undefined;
    return held.find(([name]) => name === definition.name)?.[1];
  }

  /** In milliseconds, since the upstream last said what it offers. */
  age(upstream: UpstreamName): number | undefined {
    const at = this.listing(upstream)?.at;
    return at === undefined ? undefined : Math.max(0, this.#options.now() - at);
  }

  /** Resolves when each of these was listed or could not be, or when the wait is over; one listing is enough for it to be. */
  async settled(upstreams: readonly UpstreamName[], wait: number | ComingOptions): Promise<void> {
    const waiting = upstreams
      .flatMap((name) => this.#known.get(name) ?? [])
      .filter(({ isSettled }) => !isSettled);
    if (waiting.length === 0) return;
    const options = typeof wait === 'number' ? { atMostMs: wait } : wait;
    const isEnough = (): boolean => upstreams.some((name) => this.has(name));
    await whileTheyCome(
      waiting.map(({ settled }) => settled.promise),
      { isEnough, here: upstreams.length - waiting.length, ...options },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listening?.[Symbol.dispose]();
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
    await Promise.all([...this.#known.values()].map(({ refresh }) => refresh.stop(reason)));
  }

  #identify(upstreams: readonly UpstreamIdentity[]): void {
    const wanted = new Map(upstreams.map(({ name, fingerprint }) => [name, fingerprint]));
    for (const [name, known] of this.#known) {
      if (wanted.get(name) === known.config) continue;
      this.#known.delete(name);
      settle(known);
      const text = `Server "${name}" was removed from the configuration or changed.`;
      void known.refresh.stop(new GatewayError('UPSTREAM_CLOSED', text));
    }
    for (const [name, config] of wanted) {
      if (!this.#known.has(name)) this.#known.set(name, this.#unlisted(name, config));
    }
  }

  #unlisted(name: UpstreamName, config: Fingerprint): Known {
    const known: Known = {
      config,
      refresh: new Refresh((cancellation) => this.#list(name, known, cancellation)),
      settled: deferred(),
      isSettled: false,
      listing: undefined,
    };
    return known;
  }

  async #list(name: UpstreamName, known: Known, cancellation: Cancellation): Promise<void> {
    try {
      const offered = await this.#options.source.list(name, cancellation, known.listing);
      const listing = await this.#judged(offered, known.listing);
      cancellation.throwIfCancelled(); // Too late: somebody may have been told already that it failed.
      if (listing.config !== known.config) return; // The source is ahead of us; it will be asked again.
      if (this.#take(known, listing)) this.#publish();
      this.#options.cache.save(known.listing ?? listing);
    } finally {
      settle(known);
    }
  }

  async #judged(listing: Listing, before: Listing | undefined): Promise<Listing> {
    const { judge } = this.#options;
    if (judge === undefined) return listing;
    const held = before?.judged;
    // What was judged before needs no second look, and the store of approvals need not be opened for it.
    if (held?.basis === judge.basis(listing.upstream) && offersTheSame(before as Listing, listing))
      return { ...listing, judged: held };
    return { ...listing, judged: await judge.judge(listing, before) };
  }

  async #adoptFound(listings: readonly Listing[]): Promise<void> {
    const { judge, log } = this.#options;
    try {
      this.#adopt(
        judge === undefined
          ? listings
          : await Promise.all(
              listings.map(async (listing) => ({
                ...listing,
                judged: await judge.judge(listing, this.listing(listing.upstream)),
              })),
            ),
      );
    } catch (error) {
      log?.warn('A listing of another process cannot be judged.', { reason: String(error) });
    }
  }

  /** Listings that others made; ours are newer if we have listed meanwhile. */
  #adopt(listings: readonly Listing[]): void {
    let isChanged = false;
    for (const listing of listings) {
      const known = this.#known.get(listing.upstream);
      if (known?.config !== listing.config) continue;
      if (known.listing === undefined || known.listing.at < listing.at) {
        isChanged = this.#take(known, listing) || isChanged;
        settle(known);
      }
    }
    if (isChanged) this.#publish();
  }

  /** Tells whether it says anything new. */
  #take(known: Known, listing: Listing): boolean {
    const before = known.listing;
    known.listing = before === undefined ? listing : withKnownEntries(listing, before);
    return before === undefined || !saysTheSame(before, listing);
  }

  #publish(): void {
    const before = this.#current;
    const after = merge(
      [...this.#known.values()].flatMap(({ listing }) => listing ?? []),
      this.#merging,
    );
    this.#current = after;
    if (before.digest !== after.digest) this.events.emit('changed', { before, after });
  }
}

function settle(known: Known): void {
  known.isSettled = true;
  known.settled.resolve();
}
