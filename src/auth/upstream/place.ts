import type { UpstreamName } from '../../model/ids.ts';

/** Whose sign-in: the upstream's, and of one caller where each has an own. */
export interface Place {
  readonly upstream: UpstreamName;
  /** Empty for the one that all callers share. */
  readonly caller: string;
}

export function placeKey({
  upstream,
  caller,
}: {
  readonly upstream: string;
  readonly caller: string;
}): string {
  return JSON.stringify([upstream, caller]);
}
