import type { Exposure, ExposureChoice } from '../exposure/exposure.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import type { Era } from '../core/server-facts.ts';

/** The session that an exposure belongs to. */
interface ExposureOwner {
  readonly view: CatalogView;
  /** Changes when a new configuration requires the exposure to be chosen again. */
  readonly exposureVersion?: unknown;
  /** Called with tools that were not listed before. */
  onReveal?(names: readonly string[]): void;
}

const NO_TOOLS: ReadonlySet<string> = new Set();

/** The tools as one client session sees them: the exposure that was chosen for it, and the tools that its searches have revealed. */
export class SessionExposure {
  readonly #choose: ExposureChoice;
  readonly #owner: ExposureOwner;
  /** The name of a legacy client; a modern client sends it with every request. */
  clientName: string | undefined;
  #chosen: { readonly version: unknown; readonly exposure: Exposure } | undefined;
  #revealed: Set<string> | undefined;

  constructor(exposure: Exposure | ExposureChoice, owner: ExposureOwner) {
    this.#choose = typeof exposure === 'function' ? exposure : () => exposure;
    this.#owner = owner;
  }

  /**
   * Returns the exposure. A legacy client keeps its exposure until `exposureVersion` changes. A modern client has no session, so the
   * exposure is chosen for each request.
   */
  for(era: Era, clientName?: string): Exposure {
    if (era === 'modern') return this.#choose(this.#owner.view, clientName);
    const { exposureVersion: version } = this.#owner;
    if (this.#chosen?.version !== version || this.#chosen === undefined)
      this.#chosen = { version, exposure: this.#choose(this.#owner.view, this.clientName) };
    return this.#chosen.exposure;
  }

  /** Whether the list of tools depends on the servers' listings. If so, a request for it waits for the listings. */
  dependsOnListings(era: Era, clientName?: string): boolean {
    const { dependsOnListings, isProvisional = false } = this.for(era, clientName);
    // A legacy client keeps a provisional exposure, so it does not wait for a better choice.
    return dependsOnListings || (era === 'modern' && isProvisional) || this.revealedFor(era).size > 0;
  }

  /** Returns one digest per list, which stays the same while the client sees the same entries. */
  digests(
    view: CatalogView,
    era: Era,
    clientName?: string,
  ): Readonly<Record<keyof CatalogView['digests'], string>> {
    return { ...view.digests, tools: this.for(era, clientName).digest(view, this.revealedFor(era)) };
  }

  /** Returns the revealed tools; none for a modern client, whose lists must not depend on earlier requests. */
  revealedFor(era: Era): ReadonlySet<string> {
    return era === 'modern' ? NO_TOOLS : (this.#revealed ?? NO_TOOLS);
  }

  /** Adds tools to the list of this session. Returns whether any of them is new; if so, the client must be notified. */
  reveal(names: readonly string[]): boolean {
    const revealed = (this.#revealed ??= new Set());
    const added = names.filter((name) => !revealed.has(name));
    for (const name of added) revealed.add(name);
    if (added.length === 0) return false;
    this.#owner.onReveal?.(added);
    return true;
  }

  /** Adds tools that the client already knows from searches at another replica or before a restart. */
  restore(names: readonly string[]): void {
    const revealed = (this.#revealed ??= new Set());
    for (const name of names) revealed.add(name);
  }
}
