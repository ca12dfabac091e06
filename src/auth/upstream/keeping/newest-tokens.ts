import { hash } from 'node:crypto';

import type { Place } from '../place.ts';
import type { StoredTokens } from '../stored-tokens.ts';

/** How many that were spent are remembered besides the one that is saved: more than any read of the database can be behind. */
const REMEMBERED = 7;

interface Change {
  readonly place: Place;
  /** Absent where somebody saved the new ones whatever there was. */
  readonly spent?: StoredTokens;
  readonly tokens: StoredTokens;
  /** Whether nothing had been saved: the first tokens of a seed come from the environment. */
  readonly isFirst?: boolean;
}

/** What one place has had last in this process, and what it spent for that: whoever finds some of it saved still gets these instead. */
export class NewestTokens {
  readonly place: Place;
  readonly tokens: StoredTokens;
  /** While they are written. */
  saving: Promise<boolean> | undefined;
  /** Whether these were not saved yet, and nobody has saved anything else since. */
  isUnsaved: boolean;
  /** Whether they are to be written again in a while. */
  isAwaited = false;
  /** Whether anything was ever saved, so that nothing now says that somebody signed out. */
  wasSaved: boolean;
  readonly spent: readonly string[];
  /** Of those that are spent the one that was last seen to be saved. */
  seen: string | undefined;

  constructor({ place, spent, tokens, isFirst = false }: Change, before: NewestTokens | undefined) {
    this.place = place;
    this.tokens = tokens;
    this.isUnsaved = spent !== undefined;
    this.wasSaved = spent === undefined || (before?.wasSaved ?? !isFirst);
    const earlier = before?.spent ?? [];
    const all = spent === undefined ? earlier : [...earlier, identityOf(spent)];
    this.spent = all.slice(-REMEMBERED);
    this.seen = before?.seen ?? all[0];
  }

  isSameAs(saved: StoredTokens | undefined): boolean {
    return saved !== undefined && identityOf(saved) === identityOf(this.tokens);
  }

  /** Whether what is saved, or that nothing is, is older. */
  isNewerThan(saved: StoredTokens | undefined): boolean {
    if (saved === undefined) return !this.wasSaved;
    this.wasSaved = true;
    // What another seed became is over with that one.
    if (saved.flow === 'seed' && this.tokens.flow === 'seed' && saved.seed !== this.tokens.seed) return true;
    const identity = identityOf(saved);
    if (identity !== this.seen && !this.spent.includes(identity)) return false;
    this.seen = identity;
    return !this.isSameAs(saved);
  }
}

/** Both: there are servers that give the same access token again with another refresh token. */
function identityOf({ accessToken, refreshToken = '' }: StoredTokens): string {
  return hash('sha256', JSON.stringify([accessToken, refreshToken]));
}
