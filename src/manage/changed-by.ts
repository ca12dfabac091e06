import type { Caller } from '../model/caller.ts';

/** Who changes servers. What a person adds is taken on sight; everything else waits for one. */
export interface ChangedBy {
  readonly caller: Pick<Caller, 'id' | 'via' | 'profile'>;
  /** `program`: a key of the API, or a command without a terminal. */
  readonly is: 'person' | 'program' | 'model';
  /** Which servers they may know of, by name; all where it is absent. */
  readonly sees?: (name: string) => boolean;
  /** Which names they could see a new server under. */
  readonly seesNew?: (name: string) => boolean;
  /** Such a name may be that of a server which they may not know of, so that it must not be told from a free one. */
  readonly mayMeetHidden?: boolean;
}
