import { type Place, placeKey } from '../place.ts';
import type { SavedSignIns } from '../saved-sign-ins.ts';
import type { StoredTokens } from '../stored-tokens.ts';
import { NewestTokens } from './newest-tokens.ts';

interface RenewedDeps {
  readonly saved: SavedSignIns;
  /** Something was saved for this place, by us. */
  readonly tell: (place: Place) => Promise<void>;
  /** There is nothing any more that has to be saved for this place. */
  readonly settled: (place: Place) => Promise<void>;
  /** How soon what could not be saved is tried again. */
  readonly saveAgainMs: number;
}

/** Tokens that this process had for others, which are spent by then: they count whether or not they could be saved. */
export class RenewedTokens {
  readonly #deps: RenewedDeps;
  readonly #newest = new Map<string, NewestTokens>();
  #isClosing = false;

  constructor(deps: RenewedDeps) {
    this.#deps = deps;
  }

  /** What counts where this is saved. */
  current(place: Place, saved: StoredTokens | undefined): StoredTokens | undefined {
    const key = placeKey(place);
    const newest = this.#newest.get(key);
    if (newest === undefined) return saved;
    if (newest.isNewerThan(saved)) {
      // Nobody waits for it, and it is tried again.
      if (newest.saving === undefined) this.#save(newest).catch(() => {});
      return newest.tokens;
    }
    // Once these are saved they are kept for their history: a slow reader may still come with what was spent before.
    if (!newest.isSameAs(saved)) this.#newest.delete(key);
    return saved;
  }

  /** Whether they count, which they do not where somebody signed in or out meanwhile. Rejects where they cannot be saved now, and count. */
  replace(
    spent: StoredTokens,
    tokens: StoredTokens,
    { place, isFirst }: { readonly place: Place; readonly isFirst: boolean },
  ): Promise<boolean> {
    const key = placeKey(place);
    const before = this.#newest.get(key);
    const newest = new NewestTokens({ place, spent, tokens, isFirst }, before);
    // Before anything is waited for: from now on nobody gets the spent ones, whatever is saved.
    this.#newest.set(key, newest);
    return this.#save(newest, before?.saving);
  }

  /** Somebody has saved these, whatever there was. */
  overruled(place: Place, tokens: StoredTokens): void {
    const key = placeKey(place);
    const before = this.#newest.get(key);
    if (before !== undefined) this.#newest.set(key, new NewestTokens({ place, tokens }, before));
  }

  forget(place: Place): void {
    this.#newest.delete(placeKey(place));
  }

  isUnsaved(place: Place): boolean {
    return this.#newest.get(placeKey(place))?.isUnsaved === true;
  }

  /** For the last time: what fails now is lost with the process. */
  async saveAll(): Promise<void> {
    this.#isClosing = true;
    const unsaved = [...this.#newest.values()].filter(({ isUnsaved }) => isUnsaved);
    await Promise.allSettled(unsaved.map((newest) => this.#save(newest, newest.saving)));
  }

  /** One write after the other, and none over what somebody else saved, who knows better. */
  #save(newest: NewestTokens, before?: Promise<boolean>): Promise<boolean> {
    const { place, tokens } = newest;
    const { saved, tell, settled } = this.#deps;
    const write = async (): Promise<boolean> => {
      await before?.catch(() => {});
      const read = await saved.read(place);
      const isNewer = newest.isNewerThan(read?.tokens);
      const isWritten = isNewer && (await saved.writeOver(read, place, tokens));
      newest.wasSaved ||= isWritten;
      newest.isUnsaved = false;
      if (isWritten) await tell(place);
      await settled(place).catch(() => {}); // The lease ends by itself.
      return isWritten || newest.isSameAs(read?.tokens);
    };
    newest.saving = write()
      .catch((error: unknown) => {
        this.#saveLater(newest);
        throw error;
      })
      .finally(() => (newest.saving = undefined));
    return newest.saving;
  }

  /** Although nobody asks for them: other processes have what is spent until then, and wait. */
  #saveLater(newest: NewestTokens): void {
    if (newest.isAwaited || this.#isClosing) return;
    newest.isAwaited = true;
    const again = async (): Promise<void> => {
      newest.isAwaited = false;
      const current = this.#newest.get(placeKey(newest.place));
      if (current === newest) await (newest.saving ?? this.#save(newest));
      else if (current?.isUnsaved !== true) await this.#deps.settled(newest.place);
    };
    // Whatever fails is tried again, or is over when the lease is.
    setTimeout(() => void again().catch(() => {}), this.#deps.saveAgainMs).unref();
  }
}
