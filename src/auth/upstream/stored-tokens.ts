import type { OAuthClient } from './oauth/client-authentication.ts';
import type { AuthorizationServer } from './oauth/discovery.ts';

/** One successful sign-in: the tokens, and all that renewing and revoking them needs. */
export interface StoredTokens {
  /** The address of the upstream that they are for; they are sent nowhere else. */
  readonly url: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly obtainedAt: number;
  readonly expiresAt?: number;
  readonly scope?: string;
  readonly resource?: string;
  readonly account?: string;
  /** How they were had; a machine gets new ones without a person. */
  readonly flow: 'browser' | 'device' | 'client-credentials' | 'pasted' | 'seed' | 'imported';
  /** Who issued them; absent for a token that a person pasted. */
  readonly server?: Pick<
    AuthorizationServer,
    'issuer' | 'tokenEndpoint' | 'authMethods' | 'signingAlgorithms' | 'revocationEndpoint'
  >;
  readonly client?: OAuthClient;
  /** Hash of the seed that they began with, so that a changed seed is noticed. */
  readonly seed?: string;
}

/** What a server last said that a person has to act on. */
export interface SignInNote {
  /** Of its challenge. */
  readonly resourceMetadata?: string;
  readonly scope?: string;
  /** Scopes that a call was refused for; the next sign-in asks for them as well. */
  readonly more?: string;
  /** For people. */
  readonly problem?: string;
}

/** At this part of their life tokens are renewed, long before anybody notices. */
const RENEW_AT = 0.8;

/** When to renew; undefined where tokens do not say how long they live. */
export function renewalTime({ obtainedAt, expiresAt }: StoredTokens): number | undefined {
  return expiresAt === undefined ? undefined : obtainedAt + (expiresAt - obtainedAt) * RENEW_AT;
}

/** For notes, in which nothing is nothing to be kept. */
export function withoutUndefined<T extends object>(
  value: T,
): Partial<{ [K in keyof T]: Exclude<T[K], undefined> }> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as never; // Just that.
}
