import type { Caller } from '../model/caller.ts';

/** Who changes servers. What a person adds is taken on sight; everything else waits for one. */
export interface ChangedBy {
  readonly caller: Pick<Caller, 'id' | 'via' | 'profile'>;
  /** `program`: a key of the API, or a command without a terminal. */
  readonly is: 'person' | 'program' | 'model';
  /** Which servers they may know of, by name; all where it is absent. */
  readonly sees?: (name: string) => boolean;
}
