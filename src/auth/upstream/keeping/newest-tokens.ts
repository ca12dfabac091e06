import type { Place } from '../place.ts';
import type { StoredTokens } from '../stored-tokens.ts';

/** How many that were spent are remembered: more than any read of the database can be behind. */
const REMEMBERED = 8;

/** What one place had last for tokens that this process spent: whoever finds one of those saved still gets these instead. */
export class NewestTokens {
  readonly place: Place;
  readonly tokens: StoredTokens;
  /** While they are written. */
  saving: Promise<void> | undefined;
  /** Whether these were not saved yet, and nobody has saved anything else since. */
  isUnsaved = true;
  /** Whether they are to be written again in a while. */
  isAwaited = false;
  /** Whether anything was ever saved; the tokens of a seed, which comes from the environment, may never have been. */
  wasSaved: boolean;
  readonly spent: readonly string[];

  constructor(
    place: Place,
    { spent, tokens }: { readonly spent: StoredTokens; readonly tokens: StoredTokens },
    before: NewestTokens | undefined,
  ) {
    this.place = place;
    this.tokens = tokens;
    this.spent = [...(before?.spent ?? []).slice(1 - REMEMBERED), spent.accessToken];
    this.wasSaved = before?.wasSaved ?? spent.flow !== 'seed';
  }

  /** Whether what is saved, or that nothing is, is older. */
  isNewerThan(saved: StoredTokens | undefined): boolean {
    if (saved === undefined) return !this.wasSaved;
    this.wasSaved = true;
    return this.spent.includes(saved.accessToken);
  }
}
