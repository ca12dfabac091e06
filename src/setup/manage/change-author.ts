import type { Caller } from '../../core/caller.ts';

/** The author of a change to servers. A server that a person adds is trusted on first sight; all others are held for approval. */
export interface ChangeAuthor {
  readonly caller: Pick<Caller, 'id' | 'via' | 'profile'>;
  /** `program`: an API key, or a command without a terminal. */
  readonly kind: 'person' | 'program' | 'model';
  /** Whether the author may know of the server with this name. If it is absent, the author may know of all servers. */
  readonly canSee?: (name: string) => boolean;
  /** Whether the author could see a new server with this name. */
  readonly canSeeNew?: (name: string) => boolean;
  /**
   * Whether a name that `canSeeNew` allows may belong to a hidden server. New names then get a suffix, so that the author cannot find out
   * which names are taken.
   */
  readonly mayCollideWithHidden?: boolean;
}
