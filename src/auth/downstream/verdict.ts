import type { IncomingHttpHeaders } from 'node:http';
import type { Caller } from '../../model/caller.ts';

/** What is known of a request before its body is read. */
export interface Asked {
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  /** Asked for its address only where that matters. */
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly path: string;
}

/** Somebody who may come in. */
export interface Admission {
  readonly caller: Caller;
  /** Whether the caller's profile cannot be left for another. */
  readonly isBound: boolean;
  /** When what was shown ends by itself. */
  readonly until?: number;
  /** The key that it rests on, and ends with. */
  readonly key?: string;
}

/** Why somebody may not, with the words of RFC 6750 for clients. */
export interface Refusal {
  readonly status: 400 | 401 | 403 | 503;
  readonly message: string;
  /** Absent where nothing was shown at all. */
  readonly error?: 'invalid_request' | 'invalid_token' | 'insufficient_scope';
  readonly scope?: string;
}

export type Verdict = { readonly admission: Admission } | { readonly refusal: Refusal };

/** One way to prove who one is; undefined leaves the request to the next. */
export type Provider = (asked: Asked, token: string | undefined) => Verdict | Promise<Verdict> | undefined;

export type Authenticate = (asked: Asked) => Verdict | Promise<Verdict>;

export function refused(
  message: string,
  more: Partial<Pick<Refusal, 'status' | 'error' | 'scope'>> = {},
): { readonly refusal: Refusal } {
  return { refusal: { status: 401, message, ...more } };
}
