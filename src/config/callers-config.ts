import type { Tier } from '../core/tier.ts';

/** The authentication methods for callers over HTTP, in the order in which they are tried. */
export interface CallersConfig {
  readonly keys: boolean;
  readonly forwarded?: ForwardedConfig | undefined;
  readonly jwt?: JwtConfig | undefined;
  readonly authorizationServer?: AuthorizationServerConfig | undefined;
}

/** A reverse proxy that authenticates users and passes their identity in headers. */
export interface ForwardedConfig extends CallerDefaults {
  /** Addresses and networks of the proxy; the headers of other peers are ignored. */
  readonly from: readonly string[];
  /** Header name in lower case, like `groups`. */
  readonly user: string;
  readonly groups?: string | undefined;
}

/** Applies to callers for whom nothing more specific is configured. */
interface CallerDefaults {
  /** If absent, these callers are not bound to a profile. */
  readonly profile?: string | undefined;
  readonly tier?: Tier | undefined;
}

/** Tokens of an external authorization server. */
export interface JwtConfig extends CallerDefaults {
  readonly issuer: string;
  readonly audience: readonly string[];
  /** The URL of the issuer's keys; if absent, it is read from the issuer's metadata. */
  readonly jwksUrl?: string | undefined;
  readonly algorithms: readonly string[];
  readonly clockSkewMs: number;
  /** The scopes that a token must have. */
  readonly scopes: readonly string[];
  /** Names of claims; a dot separates the steps into nested objects. */
  readonly claims: {
    readonly id: string;
    readonly groups: string;
    readonly roles: string;
    readonly profile?: string | undefined;
    readonly tier?: string | undefined;
  };
}

/** The built-in authorization server, for clients that require OAuth. */
export interface AuthorizationServerConfig {
  readonly accessTokenMs: number;
  readonly refreshTokenMs: number;
  readonly registration: boolean;
  readonly maxClients: number;
  readonly metadataDocuments: boolean;
  readonly allowPrivate: boolean;
}
