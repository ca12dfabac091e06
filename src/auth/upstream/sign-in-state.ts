/** A sign-in that a running gateway began for somebody, and how far it is. */
export interface OfferedSignIn {
  readonly id: string;
  readonly server: string;
  /** Empty for the sign-in that all callers share. */
  readonly caller: string;
  /** `offered` until somebody opens the link, `open` until the person has decided. */
  readonly state: 'offered' | 'open' | 'done' | 'failed';
  /** What the person opens. */
  readonly url: string;
  /** To be typed at `url`, with `device`. */
  readonly code?: string;
  readonly account?: string;
  readonly problem?: string;
}

/** One line of the list of sign-ins. */
export interface SignInStatus {
  readonly server: string;
  readonly caller: string;
  readonly state: 'signed-in' | 'expired' | 'needs-sign-in' | 'header' | 'not-signed-in';
  readonly account?: string;
  readonly issuer?: string;
  readonly scope?: string;
  /** In milliseconds since 1970. */
  readonly expiresAt?: number;
  /** Whether it is renewed without a person. */
  readonly renews?: boolean;
  readonly problem?: string;
}
