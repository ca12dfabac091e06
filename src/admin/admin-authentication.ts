import type { Caller } from '../core/caller.ts';
import type { DashboardAddress } from './sessions/session-cookie.ts';

/** The authentication of the sender of a request, as determined by the listener that accepts the request. */
export interface AdminAuthentication {
  /** `none` allows only signing in. */
  readonly method: 'session' | 'key' | 'socket' | 'none';
  /** Whether the sender is a person. A server that a person adds needs no approval; a server that a program adds does. */
  readonly isPerson: boolean;
  /** The session of a browser. It ends at `expiresAt` unless it is used before then. */
  readonly session?: { readonly id: string; readonly expiresAt: number };
  /** The address at which a browser reached the dashboard; absent over the socket. */
  readonly address?: DashboardAddress;
  /** The address of the sender, or of the proxy if there is one. Absent over the socket. */
  readonly remoteAddress?: string | undefined;
}

/** The caller of every request from a signed-in browser. */
export const DASHBOARD_CALLER: Caller = { id: 'dashboard', via: 'admin', profile: 'default' };

/** The header with which a command at a terminal declares a person. Only the socket accepts it, because only this user can open it. */
export const PERSON_HEADER = 'x-trunkline-person';

/** Authenticates a request from the socket of this user or from this process. */
export function authenticateSocket({ headers }: Request): AdminAuthentication {
  return { method: 'socket', isPerson: headers.get(PERSON_HEADER) === '1' };
}
