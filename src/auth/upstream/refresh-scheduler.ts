import type { StoredTokens } from './stored-tokens.ts';

interface RefreshSchedulerDeps {
  readonly refresh: (stale: StoredTokens) => Promise<StoredTokens>;
  /** Whether only a new sign-in can fix the error. */
  readonly isPermanent: (error: unknown) => boolean;
  readonly now: () => number;
  /** Called by the timer. Refreshes the tokens if their refresh is due. */
  readonly onTimer: () => Promise<unknown>;
}

/** After a failure, requests within this time get the same error, which avoids a thundering herd on a server that is down. */
const PAUSE_MS = 2000;
/** The first and the longest delay between retries with an expired token. */
const FIRST_RETRY_MS = 30_000;
const LAST_RETRY_MS = 10 * 60_000;
/** The longest delay of a timer in Node. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Decides when the tokens of one sign-in are refreshed. Concurrent requests share one refresh, a timer refreshes tokens that no request
 * uses, and a failed refresh is retried.
 */
export class RefreshScheduler implements Disposable {
  readonly #deps: RefreshSchedulerDeps;
  #running: Promise<StoredTokens> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lastFailure: { readonly token: string; readonly at: number; readonly error: Error } | undefined;
  #retryMs = FIRST_RETRY_MS;
  #isDisposed = false;

  constructor(deps: RefreshSchedulerDeps) {
    this.#deps = deps;
  }

  /** Refreshes the tokens now, or returns the refresh in progress. Within `PAUSE_MS` after a failure, rejects with the same error. */
  refresh(stale: StoredTokens): Promise<StoredTokens> {
    if (this.#running !== undefined) return this.#running;
    const failure = this.#lastFailure;
    const elapsed = this.#deps.now() - (failure?.at ?? 0);
    // A negative value means that the clock was set back, so the time since the failure is unknown.
    if (failure?.token === stale.accessToken && elapsed >= 0 && elapsed < PAUSE_MS)
      return Promise.reject(failure.error);
    this.#running = this.#attempt(stale).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Sets the timer, which refreshes the tokens even if no request needs them, because some refresh tokens expire without use. */
  schedule(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed) return;
    this.#timer = setTimeout(
      // The next request that needs the token gets the error.
      () => void this.#deps.onTimer().catch(() => {}),
      Math.min(Math.max(0, ms), MAX_DELAY_MS),
    ).unref();
  }

  /** Sets the timer after a failure with an expired token; the delay doubles each time, up to `LAST_RETRY_MS`. */
  scheduleRetry(): void {
    this.schedule(this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.cancel();
  }

  async #attempt(stale: StoredTokens): Promise<StoredTokens> {
    try {
      const refreshed = await this.#deps.refresh(stale);
      this.#lastFailure = undefined;
      this.#retryMs = FIRST_RETRY_MS;
      return refreshed;
    } catch (error) {
      // After a permanent failure there is no pause, so a new sign-in works at once.
      this.#lastFailure =
        error instanceof Error && !this.#deps.isPermanent(error)
          ? { token: stale.accessToken, at: this.#deps.now(), error }
          : undefined;
      throw error;
    }
  }
}
