import { GatewayError } from '../../model/errors.ts';

const FREE = 5;
const WINDOW_MS = 60_000;

/** Slows down whoever tries keys: after a few wrong ones in a minute nobody can try another for a while. */
export class KeyAttempts {
  readonly #now: () => number;
  #failures: number[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws while there are too many. */
  check(): void {
    const now = this.#now();
    this.#failures = this.#failures.filter((at) => at > now - WINDOW_MS);
    const [first] = this.#failures;
    if (this.#failures.length < FREE || first === undefined) return;
    const retryAfterMs = first + WINDOW_MS - now;
    throw new GatewayError(
      'RATE_LIMITED',
      `Too many wrong keys; try again in ${Math.ceil(retryAfterMs / 1000)} s, or open the link that \`trunkline dashboard\` makes.`,
      { details: { retryAfterMs } },
    );
  }

  failed(): void {
    this.#failures.push(this.#now());
  }
}
