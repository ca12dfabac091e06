import type { Exposure, ExposureChoice } from '../exposure/exposure.ts';
import type { View } from '../gateway/view.ts';
import type { Era } from '../model/server-facts.ts';

/** Whose exposure it is. */
interface Owner {
  readonly view: View;
  /** Another value when the choice has to be made anew, since the configuration is another one. */
  readonly edition?: unknown;
  /** Told the tools that were not listed before. */
  onReveal?(names: readonly string[]): void;
}

/** How one client session sees tools: chosen once for each edition, with what its own searches have revealed. */
export class SessionExposure {
  readonly #choose: ExposureChoice;
  readonly #owner: Owner;
  /** What an older client calls itself; a modern one says it with every request. */
  client: string | undefined;
  #chosen: { readonly edition: unknown; readonly exposure: Exposure } | undefined;
  #revealed: Set<string> | undefined;

  constructor(exposure: Exposure | ExposureChoice, owner: Owner) {
    this.#choose = typeof exposure === 'function' ? exposure : () => exposure;
    this.#owner = owner;
  }

  /** Modern clients have no sessions, so that for them it depends on what there is to see. */
  for(era: Era, client?: string): Exposure {
    if (era === 'modern') return this.#choose(this.#owner.view, client);
    const { edition } = this.#owner;
    if (this.#chosen?.edition !== edition || this.#chosen === undefined)
      this.#chosen = { edition, exposure: this.#choose(this.#owner.view, this.client) };
    return this.#chosen.exposure;
  }

  /** Equal while this client sees the same lists. */
  digests(view: View, era: Era, client?: string): Readonly<Record<keyof View['digests'], string>> {
    return { ...view.digests, tools: this.for(era, client).digest(view, this.revealedFor(era)) };
  }

  /** The lists of modern clients may not depend on what came before on a connection. */
  revealedFor(era: Era): ReadonlySet<string> {
    return era === 'modern' ? NONE : (this.#revealed ?? NONE);
  }

  /** Whether any of these tools was not listed for this session before, so that the client must be told. */
  reveal(names: readonly string[]): boolean {
    const revealed = (this.#revealed ??= new Set());
    const added = names.filter((name) => !revealed.has(name));
    for (const name of added) revealed.add(name);
    if (added.length === 0) return false;
    this.#owner.onReveal?.(added);
    return true;
  }

  /** Tools that the client knows of already, from searches elsewhere. */
  restore(names: readonly string[]): void {
    const revealed = (this.#revealed ??= new Set());
    for (const name of names) revealed.add(name);
  }
}

const NONE: ReadonlySet<string> = new Set();
