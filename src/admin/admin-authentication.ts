import type { Caller } from '../core/caller.ts';
import type { DashboardAddress } from './sessions/session-cookie.ts';

/** Describes how the listener authenticated the sender of a request. */
export interface AdminAuthentication {
  /** `none` means no credentials: the sender may only sign in. */
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

/**
 * The header by which a command declares that a person runs it at a terminal. It counts only on the socket, because only this user can open
 * the socket.
 */
export const PERSON_HEADER = 'x-trunkline-person';

/** Authenticates a request from the socket of this user or from this process. */
export function authenticateSocket({ headers }: Request): AdminAuthentication {
  return { method: 'socket', isPerson: headers.get(PERSON_HEADER) === '1' };
}
