import type { Exposure, ExposureChoice } from '../exposure/exposure.ts';
import type { View } from '../gateway/view.ts';
import type { Era } from '../model/server-facts.ts';

/** How one client session sees tools: chosen once for each edition, with what its own searches have revealed. */
export class SessionExposure {
  readonly #choose: ExposureChoice;
  readonly #view: () => View;
  readonly #onReveal: ((names: readonly string[]) => void) | undefined;
  /** What an older client calls itself; a modern one says it with every request. */
  client: string | undefined;
  readonly #edition: () => unknown;
  #chosen: { readonly edition: unknown; readonly exposure: Exposure } | undefined;
  #revealed: Set<string> | undefined;

  constructor(
    exposure: Exposure | ExposureChoice,
    view: () => View,
    {
      onReveal,
      edition = () => undefined,
    }: {
      /** Told the tools that were not listed before. */
      readonly onReveal?: (names: readonly string[]) => void;
      /** Another value when the choice has to be made anew, since the configuration is another one. */
      readonly edition?: () => unknown;
    } = {},
  ) {
    this.#edition = edition;
    this.#choose = typeof exposure === 'function' ? exposure : () => exposure;
    this.#view = view;
    this.#onReveal = onReveal;
  }

  /** Modern clients have no sessions, so that for them it depends on what there is to see. */
  for(era: Era, client?: string): Exposure {
    if (era === 'modern') return this.#choose(this.#view(), client);
    const edition = this.#edition();
    if (this.#chosen?.edition !== edition || this.#chosen === undefined)
      this.#chosen = { edition, exposure: this.#choose(this.#view(), this.client) };
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
    this.#onReveal?.(added);
    return true;
  }

  /** Tools that the client knows of already, from searches elsewhere. */
  restore(names: readonly string[]): void {
    const revealed = (this.#revealed ??= new Set());
    for (const name of names) revealed.add(name);
  }
}

const NONE: ReadonlySet<string> = new Set();
