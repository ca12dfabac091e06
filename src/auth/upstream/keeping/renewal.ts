import type { StoredTokens } from '../stored-tokens.ts';

interface RenewalDeps {
  readonly renew: (stale: StoredTokens) => Promise<StoredTokens>;
  /** Whether only a person can mend it. */
  readonly isOver: (error: unknown) => boolean;
  readonly now: () => number;
  /** Uses the tokens, so that they are renewed where the time has come. */
  readonly wake: () => Promise<unknown>;
}

/** Whoever asks so soon after a failure hears of that one: many who wait must not besiege a server that is down. */
const PAUSE_MS = 2000;
const FIRST_AGAIN_MS = 30_000;
const LAST_AGAIN_MS = 10 * 60_000;
/** The longest that a timer can wait. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** When the tokens of one place are renewed: once for all who want it, in time although nobody calls, and again after trouble. */
export class Renewal implements Disposable {
  readonly #deps: RenewalDeps;
  #running: Promise<StoredTokens> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #trouble: { readonly token: string; readonly at: number; readonly error: Error } | undefined;
  #againMs = FIRST_AGAIN_MS;
  #isDisposed = false;

  constructor(deps: RenewalDeps) {
    this.#deps = deps;
  }

  /** Renews them now, or joins who does. */
  once(stale: StoredTokens): Promise<StoredTokens> {
    if (this.#running !== undefined) return this.#running;
    const trouble = this.#trouble;
    const since = this.#deps.now() - (trouble?.at ?? 0);
    // A clock that went back says nothing about how long ago it was.
    if (trouble?.token === stale.accessToken && since >= 0 && since < PAUSE_MS)
      return Promise.reject(trouble.error);
    this.#running = this.#attempt(stale).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Also while nobody calls: a refresh token that nobody uses for long may die of that. */
  wakeIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed) return;
    this.#timer = setTimeout(
      // Its failure is told to whoever needs the token.
      () => void this.#deps.wake().catch(() => {}),
      Math.min(Math.max(0, ms), MAX_DELAY_MS),
    ).unref();
  }

  /** After trouble with a token that has ended; ever more rarely, however long it lasts. */
  wakeAgain(): void {
    this.wakeIn(this.#againMs);
    this.#againMs = Math.min(this.#againMs * 2, LAST_AGAIN_MS);
  }

  /** Until there is something new to renew. */
  sleep(): void {
    clearTimeout(this.#timer);
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.sleep();
  }

  async #attempt(stale: StoredTokens): Promise<StoredTokens> {
    try {
      const renewed = await this.#deps.renew(stale);
      this.#trouble = undefined;
      this.#againMs = FIRST_AGAIN_MS;
      return renewed;
    } catch (error) {
      // What a person mends can be used as soon as they have.
      this.#trouble =
        error instanceof Error && !this.#deps.isOver(error)
          ? { token: stale.accessToken, at: this.#deps.now(), error }
          : undefined;
      throw error;
    }
  }
}
