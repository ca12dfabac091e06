import type { IncomingHttpHeaders } from 'node:http';

import type { Caller } from '../../core/caller.ts';

/** The part of an HTTP request that authentication uses. The body has not been read yet. */
export interface AuthRequest {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Contains the remote address. Only providers that need the address read it, because Node looks it up on each access. */
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly path: string;
}

export interface AuthenticatedCaller {
  readonly caller: Caller;
  /** Whether the caller must stay in its profile. */
  readonly isBound: boolean;
  /** When the credentials expire. */
  readonly expiresAt?: number | undefined;
  /** The id of the key behind the credentials, which become invalid when the key is revoked. */
  readonly keyId?: string | undefined;
}

/** The reason why a request was rejected, with the error codes of RFC 6750. */
export interface AuthFailure {
  readonly status: 400 | 401 | 403 | 503;
  readonly message: string;
  /** Absent if the request had no credentials, or if the failure is not one of RFC 6750. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope';
  readonly scope?: string;
}

export type AuthResult = { readonly authenticated: AuthenticatedCaller } | { readonly failure: AuthFailure };

/** Checks one kind of credentials; returns undefined to leave the request to the next provider. */
export type AuthProvider = (
  request: AuthRequest,
  token: string | undefined,
) => AuthResult | Promise<AuthResult> | undefined;

export type Authenticator = (request: AuthRequest) => AuthResult | Promise<AuthResult>;

/** Returns a failure, with status 401 unless `options` contains another status. */
export function rejectAuth(
  message: string,
  options: Partial<Pick<AuthFailure, 'status' | 'error' | 'scope'>> = {},
): { readonly failure: AuthFailure } {
  return { failure: { status: 401, message, ...options } };
}
