import type { Caller } from '../model/caller.ts';
import type { Place } from './sessions/session-cookie.ts';

/** How whoever asks has proved who they are; established by whoever takes the request in. */
export interface Proof {
  /** `nobody` gets no further than to signing in. */
  readonly by: 'session' | 'key' | 'socket' | 'nobody';
  /** What a person adds needs no approval; what a program with the key adds does. */
  readonly isPerson: boolean;
  /** Of a session: which one, and when it ends unless it is used before. */
  readonly session?: { readonly id: string; readonly expiresAt: number };
  /** Where a browser is; absent over the socket. */
  readonly place?: Place;
}

/** Whoever is signed in to the dashboard. */
export const DASHBOARD: Caller = { id: 'dashboard', via: 'admin', profile: 'default' };

/** Sent by a command that runs at a terminal; believed only where nobody but this user can ask. */
export const PERSON_HEADER = 'x-trunkline-person';

/** Of what came over the socket of this user, or from within this process. */
export function socketProof({ headers }: Request): Proof {
  return { by: 'socket', isPerson: headers.get(PERSON_HEADER) === '1' };
}
