import type { Tier } from './tier.ts';

/** Who is asking, established from verified credentials. */
export interface Caller {
  readonly id: string;
  readonly via: 'stdio' | 'http' | 'cli' | 'admin';
  readonly profile: string;
  readonly groups?: readonly string[];
  readonly roles?: readonly string[];
  /** The most that a tool may do for this caller to see it; absent means anything. */
  readonly tier?: Tier;
}

/** Under which name a caller signs in to upstreams; whoever is at this machine shares the operator's. */
export function signInOf({ id, via }: Caller): string {
  return via === 'http' && id !== 'local' ? id : '';
}

/** Whether what one of them was told can be told to the other. */
export function isSameCaller(one: Caller, other: Caller): boolean {
  return one === other || callerIdentity(one) === callerIdentity(other);
}

/** The same text for whoever may be told the same. */
export function callerIdentity({ id, via, profile, groups = [], roles = [], tier }: Caller): string {
  return JSON.stringify([id, via, profile, groups.toSorted(), roles.toSorted(), tier ?? '']);
}
