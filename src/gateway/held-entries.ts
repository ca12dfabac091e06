import type { Catalog } from '../catalog/catalog.ts';
import type { Listing } from '../catalog/listing.ts';
import type { UpstreamConfig } from '../config/config.ts';
import type { Entry } from '../core/entry.ts';
import { GatewayError } from '../core/errors.ts';
import type { HeldReason } from '../core/held.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { rejectOnCancel } from '../core/lib/cancellation.ts';
import type { Cancellation } from '../core/lib/cancellation.ts';
import { completeInSlices } from '../core/lib/complete-in-slices.ts';
import type { ApprovalRegistry } from '../policy/approvals/approval-registry.ts';
import { createServerSubject, listApprovalSubjects } from '../policy/approvals/approval-subject.ts';
import type { ApprovalKind, ApprovalSubject } from '../policy/approvals/approval-subject.ts';
import type { Lockfile } from '../policy/approvals/lockfile/lockfile.ts';
import { createScanner } from '../policy/scanner.ts';
import type { ScanEntry, ScanFindings } from '../policy/scanner.ts';
import { heldEntryError } from './calls/resolve-operation.ts';
import type { ServerControl } from './control/server-control.ts';
import type { ListingScheduler } from './listing/listing-scheduler.ts';

/** An entry that a person has reviewed; the fingerprint identifies the reviewed definition. */
export interface ReviewedEntry {
  readonly server: UpstreamName;
  readonly kind: ApprovalKind;
  /** The upstream's own name. */
  readonly name: string;
  readonly fingerprint: Fingerprint;
}

/** A server, or a part of one, that is held for approval. */
export interface HeldItem {
  readonly server: UpstreamName;
  readonly subject: ApprovalSubject;
  readonly reason: HeldReason;
  /** The version that was approved before; undefined if none was. */
  readonly approved?: ApprovalSubject | undefined;
  readonly findings: ScanFindings;
}

interface HeldEntriesDeps {
  /** Stores the approvals; if it is absent, nothing is held. */
  readonly approvals: ApprovalRegistry | undefined;
  readonly catalog: Catalog;
  readonly servers: Pick<ServerControl, 'status' | 'statusOf' | 'restart'>;
  readonly listing: Pick<ListingScheduler, 'relisting'>;
  readonly upstreams: ReadonlyMap<UpstreamName, UpstreamConfig>;
}

/** The servers, tools and prompts that are held for approval, and the decisions about them. */
export class HeldEntries {
  readonly #deps: HeldEntriesDeps;
  /** The findings of the last `list`, valid while no listing changes. */
  #scanCache: ScanCache | undefined;

  constructor(deps: HeldEntriesDeps) {
    this.#deps = deps;
  }

  /** Whether entries need approval. If they do, an entry can be used only after it has been listed and assessed. */
  get isEnabled(): boolean {
    return this.#deps.approvals !== undefined;
  }

  get lock(): Lockfile | undefined {
    return this.#deps.approvals?.lock;
  }

  /** The reason why nothing new can be approved at present, such as an unreadable database; undefined if there is no problem. */
  get approvalProblem(): string | undefined {
    return this.#deps.approvals?.problem;
  }

  /** The numbers of held servers and of held parts of servers. Refused parts are not counted, because a person has decided about them. */
  get counts(): { readonly servers: number; readonly entries: number } {
    const reasons = this.#listings().flatMap(heldReasons);
    return {
      servers: this.#deps.servers.status().filter(({ state }) => state === 'held').length,
      entries: reasons.filter((reason) => reason !== 'refused').length,
    };
  }

  /** Lists everything that is held, with the version that was approved before. */
  async list(): Promise<readonly HeldItem[]> {
    const { approvals, catalog, upstreams } = this.#deps;
    if (approvals === undefined) return [];
    const scan = await this.#createCachedScan();
    const items: HeldItem[] = [];
    for (const config of upstreams.values()) {
      const server = config.name;
      if (!(await approvals.canStart(config)))
        items.push({ server, subject: createServerSubject(config), reason: 'new', findings: [] });
      const listing = catalog.listing(server);
      for (const [subject, reason] of listing === undefined ? [] : heldSubjects(listing)) {
        const approved = await approvals.findApproved(server, subject.kind, subject.name);
        const findings = await completeInSlices(scan(server, subject));
        items.push({ server, subject, reason, approved, findings });
      }
    }
    return items;
  }

  /**
   * Changes the state of idle servers that need approval from idle to held, without starting them. `restart` makes the pool connect,
   * the pool refuses to open a server that is held, and the refusal becomes the server's state.
   */
  async detectHeldServers(): Promise<void> {
    const { approvals, servers, upstreams } = this.#deps;
    for (const config of upstreams.values()) {
      if (approvals === undefined || config.trust !== 'manual') continue;
      if (servers.statusOf(config.name).state !== 'idle' || (await approvals.canStart(config))) continue;
      // The rejection is the expected refusal.
      await servers.restart(config.name).catch(() => {});
    }
  }

  /** Whether a server with this configuration was approved, by a person or automatically on first use. */
  async isServerApproved(server: UpstreamName, fingerprint: Fingerprint): Promise<boolean> {
    const { approvals } = this.#deps;
    if (approvals === undefined) return true;
    return (await approvals.findApproved(server, 'server', ''))?.fingerprint === fingerprint;
  }

  /** Approves or refuses the reviewed entries, all or none. Rejects if an entry has changed since the review. */
  async decide(reviewed: readonly ReviewedEntry[], state: 'approved' | 'refused', by: string): Promise<void> {
    const { approvals } = this.#deps;
    if (approvals === undefined)
      throw new GatewayError(
        'USAGE',
        'This gateway holds nothing for approval, so there is nothing to decide.',
      );
    const decisions = reviewed.map((entry) => ({
      upstream: entry.server,
      subject: this.#currentSubject(entry),
    }));
    if (approvals.lock !== undefined && decisions.some(({ subject }) => subject.kind !== 'server'))
      throw new GatewayError(
        'USAGE',
        `Approvals come from the lockfile ${approvals.lock.file}. To approve the current definitions after a review, run: trunkline lock`,
      );
    await approvals.decide(decisions, state, by);
    await this.#applyDecisions([...new Set(reviewed.map(({ server }) => server))]);
  }

  /** Reads approvals again after another process has decided, or after the lockfile has changed. */
  async reload(): Promise<void> {
    await this.#deps.approvals?.reload();
    await this.#applyDecisions([...this.#deps.upstreams.keys()]);
  }

  /** Assesses the listings of servers again after their configuration has changed. */
  async reassess(names: readonly UpstreamName[]): Promise<void> {
    if (names.length > 0) await this.#applyDecisions(names);
  }

  /** Removes the approvals of servers that left the configuration. */
  async forget(names: readonly UpstreamName[]): Promise<void> {
    if (names.length > 0) await this.#deps.approvals?.forget(names);
  }

  /** Throws if an entry is held. This last check before a call is sent catches entries that became held while the call waited. */
  assertNotHeld(entry: Entry | undefined): void {
    if (entry?.kind !== 'tool' && entry?.kind !== 'prompt') return;
    const reason = this.#deps.catalog.heldReason(entry);
    if (reason !== undefined) throw heldEntryError({ entry, reason });
  }

  /** Whether a server has announced a changed list that has not been read yet. Always false if entries need no approval. */
  isRelisting(upstream: UpstreamName): boolean {
    return this.isEnabled && this.#deps.listing.relisting(upstream) !== undefined;
  }

  /** Returns a promise that resolves when the changed list has been read, or undefined if the server announced no change. */
  whenRelisted(upstream: UpstreamName, cancellation: Cancellation): Promise<void> | undefined {
    const relisting = this.isEnabled ? this.#deps.listing.relisting(upstream) : undefined;
    return relisting && rejectOnCancel(relisting, cancellation);
  }

  /** Starts servers that may start now, and assesses the listings again. */
  async #applyDecisions(names: readonly UpstreamName[]): Promise<void> {
    const { approvals, catalog, servers, upstreams } = this.#deps;
    for (const name of names) {
      const config = upstreams.get(name);
      if (config === undefined || servers.statusOf(name).state !== 'held') continue;
      // If the start fails, the state of the server shows the error.
      if (await approvals?.canStart(config)) await servers.restart(name).catch(() => {});
    }
    await catalog.reassess(names);
  }

  /** Returns the current version of a reviewed entry. Throws if the entry no longer exists or differs from the reviewed version. */
  #currentSubject({ server, kind, name, fingerprint }: ReviewedEntry): ApprovalSubject {
    const config = this.#deps.upstreams.get(server);
    const listing = this.#deps.catalog.listing(server);
    const subject =
      kind === 'server'
        ? config && createServerSubject(config)
        : listing &&
          listApprovalSubjects(listing).find((offered) => offered.kind === kind && offered.name === name);
    const label = kind === 'server' ? `server "${server}"` : `${kind} "${name}" of server "${server}"`;
    if (subject === undefined)
      throw new GatewayError('ENTRY_NOT_FOUND', `There is no ${label} to decide about.`, {
        details: { kind },
      });
    if (subject.fingerprint !== fingerprint)
      throw new GatewayError(
        'REVISION_CONFLICT',
        `The ${label} has changed since you reviewed it. Review it again with: trunkline approvals`,
        { details: { expected: fingerprint, found: subject.fingerprint } },
      );
    return subject;
  }

  #listings(): readonly Listing[] {
    const { upstreams, catalog } = this.#deps;
    return [...upstreams.keys()].flatMap((name) => catalog.listing(name) ?? []);
  }

  /** Returns a scanner that reuses earlier findings while no listing changes, because scanning thousands of definitions is slow. */
  async #createCachedScan(): Promise<ScanEntry> {
    const listings = this.#listings();
    let cache = this.#scanCache;
    if (cache === undefined || !areSameListings(cache.listings, listings))
      this.#scanCache = cache = { listings, findings: new Map() };
    const cachedFindings = cache.findings;
    const scan = await createScanner(
      listings.flatMap(({ upstream, tools }) => tools.map(({ definition }) => ({ upstream, definition }))),
    );
    return function* (upstream, subject) {
      const key = JSON.stringify([upstream, subject.kind, subject.name]);
      let findings = cachedFindings.get(key);
      if (findings === undefined) cachedFindings.set(key, (findings = yield* scan(upstream, subject)));
      return findings;
    };
  }
}

interface ScanCache {
  readonly listings: readonly Listing[];
  readonly findings: Map<string, ScanFindings>;
}

function areSameListings(one: readonly Listing[], other: readonly Listing[]): boolean {
  return one.length === other.length && one.every((listing, index) => listing === other[index]);
}

/** Returns the reason of each held part of a listing. Listings and catalog.json store the assessment under the name `judged`. */
function heldReasons({ judged: assessment }: Listing): readonly HeldReason[] {
  if (assessment === undefined) return [];
  const reasons = [...assessment.tools, ...assessment.prompts].map(([, reason]) => reason);
  if (assessment.words !== undefined) reasons.push(assessment.words.reason);
  return reasons;
}

/** Returns the held parts of a listing, with the reasons. */
function heldSubjects(listing: Listing): readonly (readonly [ApprovalSubject, HeldReason])[] {
  const { judged: assessment } = listing;
  if (assessment === undefined) return [];
  const reasons = {
    tool: new Map(assessment.tools),
    prompt: new Map(assessment.prompts),
    // `words` are the server's own texts, such as its instructions and its title. A server has one such subject, with an empty name.
    words: new Map<string, HeldReason>(assessment.words === undefined ? [] : [['', assessment.words.reason]]),
    // A listing contains no subject of kind `server`; the member only completes the record.
    server: new Map<string, HeldReason>(),
  };
  return listApprovalSubjects(listing).flatMap((subject) => {
    const reason = reasons[subject.kind].get(subject.name);
    return reason === undefined ? [] : [[subject, reason] as const];
  });
}
