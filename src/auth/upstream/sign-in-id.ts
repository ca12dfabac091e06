import type { UpstreamName } from '../../core/ids.ts';

/** Identifies a sign-in: its upstream, and its caller where each caller signs in separately. */
export interface SignInId {
  readonly upstream: UpstreamName;
  /** Empty for the sign-in that all callers share. */
  readonly caller: string;
}

/** Returns a string that is equal for equal ids, for use in maps. */
export function signInKey({
  upstream,
  caller,
}: {
  readonly upstream: string;
  readonly caller: string;
}): string {
  return JSON.stringify([upstream, caller]);
}
