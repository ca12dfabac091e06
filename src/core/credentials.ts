import type { GatewayError } from './errors.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** An HTTP response in which a server refused a request of the gateway. */
export interface Refusal {
  readonly status: number;
  /** The `WWW-Authenticate` header, if there was one. */
  readonly challenge: string | undefined;
  readonly body: string;
  /** When the refused request started, by `performance.now()`, which does not jump when the system clock is set. */
  readonly since: number;
  /** Whether the request had been repeated after an earlier refusal. */
  readonly isRepeated: boolean;
  /** Whether the request will not be repeated again. */
  readonly isLast: boolean;
}

/**
 * Authenticates the gateway's requests to one upstream. If each caller signs in separately, it authenticates the requests of one caller.
 * `src/auth` implements it, and `src/upstream` uses it.
 */
export interface Credentials extends Disposable {
  /** Returns the headers to send in addition to the configured ones: synchronously if possible, and the same object until they change. */
  headers(): HeaderRecord | Promise<HeaderRecord>;
  /** Decides whether to send the refused request again. If not, resolves to an error that tells a person what to do. */
  handleRefusal(refusal: Refusal): Promise<'try-again' | GatewayError>;
  /** Registers a listener that is called when someone signs in after a refusal, in this or another process. */
  onSignedIn(listener: () => unknown): void;
}
