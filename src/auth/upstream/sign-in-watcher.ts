import type { Logger } from '../../observability/log.ts';
import { type SignInId, signInKey } from './sign-in-id.ts';
import type { TokenVault } from './token-vault.ts';

interface SignInWatcherDeps {
  readonly vault: TokenVault;
  readonly signInId: SignInId;
  readonly log: Logger;
  /** Called when tokens may have been saved. Resolves with true if they come from the expected sign-in; the watch then ends. */
  readonly onSaved: () => Promise<boolean>;
}

const POLL_MS = 500;

/** Watches the vault for a sign-in. The vault reports sign-ins in this process; polling detects those in other processes. */
export class SignInWatcher implements Disposable {
  readonly #deps: SignInWatcherDeps;
  #timer: NodeJS.Timeout | undefined;
  #subscription: Disposable | undefined;
  #isDisposed = false;

  constructor(deps: SignInWatcherDeps) {
    this.#deps = deps;
  }

  start(): void {
    if (this.#timer !== undefined || this.#isDisposed) return;
    const { vault, signInId, log } = this.#deps;
    let lastSavedAt: number | undefined | 'unknown' = 'unknown';
    const poll = async (): Promise<void> => {
      const savedAt = (await vault.savedAt([signInId.upstream])).get(signInKey(signInId));
      if (savedAt === lastSavedAt || this.#isDisposed) return;
      lastSavedAt = savedAt;
      await this.#check();
    };
    const logFailure = (task: () => Promise<void>): Promise<void> =>
      task().catch((error: unknown) => log.debug('Cannot check for sign-ins.', { reason: String(error) }));
    void logFailure(poll);
    this.#timer = setInterval(() => void logFailure(poll), POLL_MS).unref();
    this.#subscription = vault.onSaved(signInId, () => logFailure(() => this.#check()));
  }

  async #check(): Promise<void> {
    if (this.#isDisposed || !(await this.#deps.onSaved())) return;
    this.#stop();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#subscription?.[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#stop();
  }
}
