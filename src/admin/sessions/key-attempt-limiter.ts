import { GatewayError } from '../../core/errors.ts';

/** Number of wrong keys that one address may send within `WINDOW_MS`. */
const MAX_FAILURES = 5;
const WINDOW_MS = 60_000;
/** Maximum number of addresses that are counted separately, which limits the memory. */
const MAX_ADDRESSES = 1000;
/** The shared counter of all addresses beyond `MAX_ADDRESSES`. */
const OTHER_ADDRESSES = 'others';

/** Counts wrong keys per client address. After five within a minute, further wrong keys of that address get a rate-limit error. */
export class KeyAttemptLimiter {
  readonly #now: () => number;
  /** The times of the failures within the last minute, by address. */
  readonly #failures = new Map<string, readonly number[]>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records a wrong key; throws if this address has sent too many of them. */
  recordFailure(address: string): void {
    const now = this.#now();
    if (this.#failures.size >= MAX_ADDRESSES) this.#removeExpired(now);
    const isCounted = this.#failures.has(address) || this.#failures.size < MAX_ADDRESSES;
    const counter = isCounted ? address : OTHER_ADDRESSES;
    const recent = (this.#failures.get(counter) ?? []).filter((time) => isRecent(time, now));
    const [first] = recent;
    if (recent.length < MAX_FAILURES || first === undefined) {
      this.#failures.set(counter, [...recent, now]);
      return;
    }
    const retryAfterMs = first + WINDOW_MS - now;
    throw new GatewayError(
      'RATE_LIMITED',
      `This key is wrong, and there were too many wrong keys before it. Try again in ${Math.ceil(retryAfterMs / 1000)} s, or sign in with the link of \`trunkline dashboard\`.`,
      { details: { retryAfterMs } },
    );
  }

  #removeExpired(now: number): void {
    for (const [address, times] of this.#failures)
      if (!times.some((time) => isRecent(time, now))) this.#failures.delete(address);
  }
}

function isRecent(time: number, now: number): boolean {
  return time > now - WINDOW_MS;
}
