/** The progress of a sign-in that a running gateway started. */
export interface OfferedSignIn {
  readonly id: string;
  readonly server: string;
  /** Empty for the sign-in that all callers share. */
  readonly caller: string;
  /** `offered` until the link is opened, then `open` until the person has decided. */
  readonly state: 'offered' | 'open' | 'done' | 'failed';
  /** The address that the person opens. */
  readonly url: string;
  /** The code to enter at `url`, with the device flow. */
  readonly code?: string;
  readonly account?: string | undefined;
  readonly problem?: string;
}

/** One entry in the list of sign-ins. */
export interface SignInStatus {
  readonly server: string;
  readonly caller: string;
  readonly state: 'signed-in' | 'expired' | 'needs-sign-in' | 'header' | 'not-signed-in';
  readonly account?: string | undefined;
  readonly issuer?: string | undefined;
  readonly scope?: string | undefined;
  /** When the access token expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
  /** Whether the token is refreshed without a person. */
  readonly renews?: boolean | undefined;
  readonly problem?: string | undefined;
}
