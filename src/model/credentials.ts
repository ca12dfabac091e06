import type { GatewayError } from './errors.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** What a server said when it refused a request over HTTP. */
export interface Refusal {
  readonly status: number;
  /** Of `WWW-Authenticate`, where there was one. */
  readonly challenge: string | undefined;
  readonly body: string;
  /** When the refused request was begun, by `performance.now()`: the clock of the machine may be set meanwhile. */
  readonly since: number;
  /** The request was repeated after an earlier refusal. */
  readonly isRepeated: boolean;
  /** It will not be again, whatever is said. */
  readonly isLast: boolean;
}

/** How we prove ourselves to one upstream, for one caller where that matters; `upstream` is handed one and knows no more. */
export interface Credentials extends Disposable {
  /** What is sent besides the configured headers; the same object while nothing changed, at once where possible. */
  headers(): HeaderRecord | Promise<HeaderRecord>;
  /** Whether another attempt makes sense now, or the error that a person must read. */
  refused(refusal: Refusal): Promise<'try-again' | GatewayError>;
  /** Called when a person has signed in after a refusal, wherever they did it. */
  onSignedIn(listener: () => unknown): void;
}
