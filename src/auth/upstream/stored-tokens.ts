import type { OAuthClient } from './oauth/client-authentication.ts';
import type { AuthorizationServerMetadata } from './oauth/server-discovery.ts';
import type { TokenResponse } from './oauth/token-request.ts';

/** The tokens of one sign-in, with the data for refreshing and revoking them. The database stores this object as JSON. */
export interface StoredTokens {
  /** The address of the upstream for which the tokens were issued. They are never sent to another address. */
  readonly url: string;
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  readonly obtainedAt: number;
  readonly expiresAt?: number | undefined;
  readonly scope?: string | undefined;
  readonly resource?: string | undefined;
  readonly account?: string | undefined;
  /** The flow that obtained the tokens; only `client-credentials` gets new ones without a person or a refresh token. */
  readonly flow: 'browser' | 'device' | 'client-credentials' | 'pasted' | 'seed' | 'imported';
  /** The authorization server; absent if it is unknown, as for a token that a person pasted. */
  readonly server?:
    | Pick<
        AuthorizationServerMetadata,
        'issuer' | 'tokenEndpoint' | 'authMethods' | 'signingAlgorithms' | 'revocationEndpoint'
      >
    | undefined;
  readonly client?: OAuthClient | undefined;
  /** A hash of the seed that the tokens come from, which reveals a change of the seed. */
  readonly seed?: string | undefined;
}

/** Builds the tokens to store from a token response. A response without a refresh token keeps the previous one. */
export function toStoredTokens(
  response: TokenResponse,
  previous: Omit<StoredTokens, 'accessToken' | 'obtainedAt'>,
  now: number,
): StoredTokens {
  return {
    ...previous,
    accessToken: response.accessToken,
    obtainedAt: now,
    expiresAt: response.expiresIn === undefined ? undefined : now + response.expiresIn * 1000,
    refreshToken: response.refreshToken ?? previous.refreshToken,
    scope: response.scope ?? previous.scope,
    account: response.account ?? previous.account,
  };
}

/** The fraction of their lifetime after which tokens are refreshed. */
const REFRESH_AT = 0.8;

/** Returns the time at which to refresh the tokens, or undefined for tokens without an expiry. */
export function refreshTime({ obtainedAt, expiresAt }: StoredTokens): number | undefined {
  return expiresAt === undefined ? undefined : obtainedAt + (expiresAt - obtainedAt) * REFRESH_AT;
}

/** Data from the last refused request, for the next sign-in. The database stores this object as JSON. */
export interface SignInNote {
  /** The `resource_metadata` of the challenge. */
  readonly resourceMetadata?: string | undefined;
  /** The `scope` of the challenge. */
  readonly scope?: string | undefined;
  /** Scopes that a refused call lacked. The next sign-in also requests these scopes. */
  readonly more?: string | undefined;
  /** The problem, as shown to people. */
  readonly problem?: string | undefined;
}
