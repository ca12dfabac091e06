import type { Tier } from '../model/tier.ts';

/** What a caller gets who was told nothing more exact. */
interface CallerDefaults {
  /** Absent: the caller is bound to none. */
  readonly profile?: string;
  readonly tier?: Tier;
}

/** A proxy that has found out who asks, and says so in headers. */
export interface ForwardedConfig extends CallerDefaults {
  /** Addresses and networks; nobody else is believed. */
  readonly from: readonly string[];
  /** Names of headers, in lower case. */
  readonly user: string;
  readonly groups?: string;
}

/** Tokens of an authorization server elsewhere. */
export interface JwtConfig extends CallerDefaults {
  readonly issuer: string;
  readonly audience: readonly string[];
  /** Absent: its metadata says where. */
  readonly jwksUrl?: string;
  readonly algorithms: readonly string[];
  readonly clockSkewMs: number;
  /** All of them must be in the token. */
  readonly scopes: readonly string[];
  /** Names of claims; dots lead into objects. */
  readonly claims: {
    readonly id: string;
    readonly groups: string;
    readonly roles: string;
    readonly profile?: string;
    readonly tier?: string;
  };
}

/** Our own, for clients that insist on OAuth. */
export interface AuthorizationServerConfig {
  readonly accessTokenMs: number;
  readonly refreshTokenMs: number;
  readonly registration: boolean;
  readonly maxClients: number;
  readonly metadataDocuments: boolean;
  readonly allowPrivate: boolean;
}

/** How callers over HTTP prove who they are: tried in this order. */
export interface CallersConfig {
  readonly keys: boolean;
  readonly forwarded?: ForwardedConfig;
  readonly jwt?: JwtConfig;
  readonly authorizationServer?: AuthorizationServerConfig;
}
