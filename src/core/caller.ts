import { createHash } from 'node:crypto';

import type { Tier } from './tier.ts';

/** The identity behind a request, established from verified credentials. */
export interface Caller {
  readonly id: string;
  readonly via: 'stdio' | 'http' | 'cli' | 'admin';
  readonly profile: string;
  readonly groups?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  /** The highest tier of tools that this caller may see; absent means any. */
  readonly tier?: Tier | undefined;
}

/**
 * Returns the name under which a caller's sign-ins to upstreams are stored. It is empty for the sign-ins of the operator, which all
 * unauthenticated callers share.
 */
export function signInOwner(caller: Caller): string {
  return isAuthenticated(caller) ? caller.id : '';
}

/** Whether the caller sent credentials that were verified. Every other caller is the user of this machine. */
export function isAuthenticated({ id, via }: Caller): boolean {
  return via === 'http' && id !== 'local';
}

/** Whether two callers have the same identity and permissions, so that data of one may be given to the other. */
export function isSameCaller(one: Caller, other: Caller): boolean {
  return one === other || callerIdentity(one) === callerIdentity(other);
}

/** Returns a key that is equal for callers with the same identity and permissions. */
export function callerIdentity({ id, via, profile, groups = [], roles = [], tier }: Caller): string {
  return JSON.stringify([id, via, profile, groups.toSorted(), roles.toSorted(), tier ?? '']);
}

const callerKeys = new WeakMap<Caller, string>();

/**
 * Returns a hash of the caller's identity and permissions. It is the key of the caller's data: results, tasks, parked calls and its own
 * servers. The id alone is not enough, because two tokens of one user can have different permissions.
 */
export function callerKey(caller: Caller): string {
  let key = callerKeys.get(caller);
  if (key === undefined) {
    key = createHash('sha256').update(callerIdentity(caller)).digest('base64url');
    callerKeys.set(caller, key);
  }
  return key;
}
