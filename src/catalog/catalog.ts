import { setImmediate as nextTurn } from 'node:timers/promises';

import { Emitter } from '../core/lib/emitter.ts';
import { deferred } from '../core/lib/deferred.ts';
import type { Deferred } from '../core/lib/deferred.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import { waitForStragglers } from '../core/lib/wait-for-stragglers.ts';
import type { StragglerOptions } from '../core/lib/wait-for-stragglers.ts';
import { GatewayError } from '../core/errors.ts';
import type { PromptEntry, ToolEntry } from '../core/entry.ts';
import type { HeldReason, HoldAssessment } from '../core/held.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import type { StoreLog } from '../core/storage/database.ts';
import type { ListingCache, UpstreamIdentity } from './listing-cache.ts';
import { isSameOffer, isSameListing, withKnownEntries } from './listing.ts';
import type { Listing } from './listing.ts';
import { CoalescedRefresh } from './coalesced-refresh.ts';
import { singleServerSnapshot, mergeListings } from './snapshot.ts';
import type { MergeOptions, Snapshot } from './snapshot.ts';

/**
 * Lists an upstream, and connects to it first if necessary. May reuse unchanged entries of `known`, the
 * upstream's last listing.
 */
export interface ListingSource {
  list(upstream: UpstreamName, cancellation: Cancellation, known?: Listing): Promise<Listing>;
}

/** Decides which entries of a listing are held, before clients see any of them. */
export interface OfferAssessor {
  /** Returns a key for the state that assessments depend on. An assessment is valid until this key changes. */
  basis(upstream: UpstreamName): string;
  /** `before` is the previous listing of the upstream. */
  assess(listing: Listing, before: Listing | undefined): Promise<HoldAssessment>;
}

export interface CatalogOptions extends MergeOptions {
  readonly source: ListingSource;
  /** Without an assessor, no entry is held. */
  readonly assessor?: OfferAssessor | undefined;
  readonly cache: Pick<ListingCache, 'restore' | 'retain' | 'save' | 'events'>;
  readonly now: () => number;
  readonly log?: StoreLog;
}

interface CatalogUpstream {
  readonly config: Fingerprint;
  readonly refresh: CoalescedRefresh;
  /** Resolves once there is a listing, the first attempt has failed, or the upstream was removed. */
  readonly settled: Deferred<void>;
  isSettled: boolean;
  listing: Listing | undefined;
}

/** Owns the listings of all upstreams and merges them into a snapshot. */
export class Catalog implements AsyncDisposable {
  /** `changed` is emitted only if a client can see a difference. */
  readonly events: Emitter<{ changed: { readonly before: Snapshot; readonly after: Snapshot } }>;

  readonly #options: CatalogOptions;
  readonly #upstreams = new Map<UpstreamName, CatalogUpstream>();
  #mergeOptions: MergeOptions;
  #current: Snapshot;
  #singleServerSnapshots = new WeakMap<Listing, Snapshot>();
  #cacheListener: Disposable | undefined;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#mergeOptions = options;
    this.#current = mergeListings([], options);
    this.events = new Emitter((error) =>
      options.log?.warn('A catalog listener failed.', { reason: String(error) }),
    );
  }

  /** The merged snapshot. A refresh that changes only the time of a listing does not replace the object. */
  get current(): Snapshot {
    return this.#current;
  }

  /** Restores the listings of earlier runs with the same configuration. */
  async restore(upstreams: readonly UpstreamIdentity[]): Promise<void> {
    const { cache } = this.#options;
    this.#cacheListener ??= cache.events.on('found', (listings) => void this.#adoptFound(listings));
    this.#syncUpstreams(upstreams);
    const listings = await cache.restore(upstreams);
    const isAssessed = (listing: Listing): boolean =>
      this.#options.assessor === undefined ||
      listing.judged?.basis === this.#options.assessor.basis(listing.upstream);
    // Listings with a valid assessment are visible at once, so a warm start does not wait.
    this.#adopt(listings.filter(isAssessed));
    const rest = listings.filter((listing) => !isAssessed(listing));
    if (rest.length > 0)
      this.#adopt(await Promise.all(rest.map((listing) => this.#assess(listing, listing))));
  }

  /** Assesses the listings of the given upstreams (by default all) again after the approvals have changed. */
  async reassess(upstreams: readonly UpstreamName[] = [...this.#upstreams.keys()]): Promise<void> {
    const { assessor, cache } = this.#options;
    if (assessor === undefined) return;
    let isChanged = false;
    for (const name of upstreams) {
      const known = this.#upstreams.get(name);
      const before = known?.listing;
      if (known === undefined || before === undefined) continue;
      const judged = await assessor.assess(before, before);
      // A listing that arrived during the assessment was already assessed with the current approvals.
      if (known.listing !== before) continue;
      const after = { ...before, judged };
      if (isSameListing(before, after)) continue;
      known.listing = after;
      cache.save(after);
      isChanged = true;
    }
    if (isChanged) this.#publish();
  }

  /** Applies a new configuration; listings of unchanged upstreams stay. */
  apply(upstreams: readonly UpstreamIdentity[], merging?: MergeOptions): void {
    this.#syncUpstreams(upstreams);
    this.#options.cache.retain(upstreams);
    this.#mergeOptions = merging ?? this.#mergeOptions;
    // The cached snapshots depend on the merge options, which may have changed.
    this.#singleServerSnapshots = new WeakMap();
    this.#publish();
  }

  /** Removes an upstream and its listing, as if it were no longer configured. */
  drop(upstream: UpstreamName): void {
    const rest = [...this.#upstreams].filter(([name]) => name !== upstream);
    this.apply(rest.map(([name, { config }]) => ({ name, fingerprint: config })));
  }

  /**
   * Lists an upstream again; concurrent requests share one run. If it fails, the last listing stays. Does nothing for an
   * upstream that has been removed from the configuration.
   */
  async refresh(upstream: UpstreamName, cancellation: Cancellation): Promise<void> {
    await this.#upstreams.get(upstream)?.refresh.request(cancellation);
  }

  has(upstream: UpstreamName): boolean {
    return this.listing(upstream) !== undefined;
  }

  listing(upstream: UpstreamName): Listing | undefined {
    return this.#upstreams.get(upstream)?.listing;
  }

  /** Returns the snapshot of one upstream; the same object while its listing is the same. */
  singleServer(upstream: UpstreamName): Snapshot | undefined {
    const listing = this.listing(upstream);
    if (listing === undefined) return undefined;
    let snapshot = this.#singleServerSnapshots.get(listing);
    if (snapshot === undefined)
      this.#singleServerSnapshots.set(
        listing,
        (snapshot = singleServerSnapshot(listing, this.#mergeOptions)),
      );
    return snapshot;
  }

  /** Returns why a tool or prompt is held; undefined if it may be used. */
  heldReason({ upstream, kind, definition }: ToolEntry | PromptEntry): HeldReason | undefined {
    const judged = this.listing(upstream)?.judged;
    const held = kind === 'tool' ? judged?.tools : judged?.prompts;
    if (held === undefined || held.length === 0) return undefined;
    return held.find(([name]) => name === definition.name)?.[1];
  }

  /** Returns the milliseconds since the listing of the upstream was last fetched. */
  age(upstream: UpstreamName): number | undefined {
    const at = this.listing(upstream)?.at;
    return at === undefined ? undefined : Math.max(0, this.#options.now() - at);
  }

  /**
   * Resolves once each upstream has a listing or has failed, or after the timeout in milliseconds. With `StragglerOptions`, the wait may
   * end earlier, but not before one of the upstreams has a listing.
   */
  async settled(upstreams: readonly UpstreamName[], wait: number | StragglerOptions): Promise<void> {
    const unsettled = upstreams
      .flatMap((name) => this.#upstreams.get(name) ?? [])
      .filter(({ isSettled }) => !isSettled);
    if (unsettled.length === 0) return;
    const options = typeof wait === 'number' ? { atMostMs: wait } : wait;
    const isEnough = (): boolean => upstreams.some((name) => this.has(name));
    await waitForStragglers(
      unsettled.map(({ settled }) => settled.promise),
      { isEnough, arrivedBefore: upstreams.length - unsettled.length, ...options },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cacheListener?.[Symbol.dispose]();
    const reason = new GatewayError('SHUTTING_DOWN', 'The gateway is stopping.');
    await Promise.all([...this.#upstreams.values()].map(({ refresh }) => refresh.stop(reason)));
  }

  #syncUpstreams(upstreams: readonly UpstreamIdentity[]): void {
    const wanted = new Map(upstreams.map(({ name, fingerprint }) => [name, fingerprint]));
    for (const [name, known] of this.#upstreams) {
      if (wanted.get(name) === known.config) continue;
      this.#upstreams.delete(name);
      settle(known);
      const text = `Server "${name}" was removed from the configuration or changed.`;
      void known.refresh.stop(new GatewayError('UPSTREAM_CLOSED', text));
    }
    for (const [name, config] of wanted) {
      if (!this.#upstreams.has(name)) this.#upstreams.set(name, this.#createUpstream(name, config));
    }
  }

  #createUpstream(name: UpstreamName, config: Fingerprint): CatalogUpstream {
    const known: CatalogUpstream = {
      config,
      refresh: new CoalescedRefresh((cancellation) => this.#list(name, known, cancellation)),
      settled: deferred(),
      isSettled: false,
      listing: undefined,
    };
    return known;
  }

  async #list(name: UpstreamName, known: CatalogUpstream, cancellation: Cancellation): Promise<void> {
    try {
      const offered = await this.#options.source.list(name, cancellation, known.listing);
      const listing = await this.#assess(offered, known.listing);
      // A cancelled refresh must not publish its listing, because its callers have already received an error.
      cancellation.throwIfCancelled();
      // If the fingerprints differ, the source already uses a newer configuration. `apply` follows and
      // replaces this upstream, which is then listed again.
      if (listing.config !== known.config) return;
      if (this.#store(known, listing)) this.#publish();
      this.#options.cache.save(known.listing ?? listing);
    } finally {
      settle(known);
    }
  }

  async #assess(listing: Listing, before: Listing | undefined): Promise<Listing> {
    const { assessor } = this.#options;
    if (assessor === undefined) return listing;
    const previous = before?.judged;
    // A valid assessment of the same entries is reused, which avoids opening the store of approvals.
    if (previous?.basis === assessor.basis(listing.upstream) && isSameOffer(before as Listing, listing))
      return { ...listing, judged: previous };
    const judged = await assessor.assess(listing, before);
    // The server determines how long assessing and merging take, so merging gets a turn of the event loop of its own.
    await nextTurn();
    return { ...listing, judged };
  }

  /** Assesses listings that another process stored, and adopts them. */
  async #adoptFound(listings: readonly Listing[]): Promise<void> {
    const { assessor, log } = this.#options;
    try {
      this.#adopt(
        assessor === undefined
          ? listings
          : await Promise.all(
              listings.map(async (listing) => ({
                ...listing,
                judged: await assessor.assess(listing, this.listing(listing.upstream)),
              })),
            ),
      );
    } catch (error) {
      log?.warn(
        'Cannot check the listing of another process for changes that need approval; it is not used.',
        { reason: String(error) },
      );
    }
  }

  /** Adopts listings from the cache, except those of another configuration and those that are not newer than ours. */
  #adopt(listings: readonly Listing[]): void {
    let isChanged = false;
    for (const listing of listings) {
      const known = this.#upstreams.get(listing.upstream);
      if (known?.config !== listing.config) continue;
      if (known.listing === undefined || known.listing.at < listing.at) {
        isChanged = this.#store(known, listing) || isChanged;
        settle(known);
      }
    }
    if (isChanged) this.#publish();
  }

  /** Stores a listing; returns whether it differs from the previous one. */
  #store(known: CatalogUpstream, listing: Listing): boolean {
    const before = known.listing;
    known.listing = before === undefined ? listing : withKnownEntries(listing, before);
    return before === undefined || !isSameListing(before, listing);
  }

  /** Merges the listings again, and emits `changed` if the lists that clients see differ. */
  #publish(): void {
    const before = this.#current;
    const after = mergeListings(
      [...this.#upstreams.values()].flatMap(({ listing }) => listing ?? []),
      this.#mergeOptions,
    );
    this.#current = after;
    if (before.digest !== after.digest) this.events.emit('changed', { before, after });
  }
}

function settle(known: CatalogUpstream): void {
  known.isSettled = true;
  known.settled.resolve();
}
