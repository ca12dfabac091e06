import { hash } from 'node:crypto';

import { type SignInId, signInKey } from './sign-in-id.ts';
import type { SignInStore } from './sign-in-store.ts';
import type { StoredTokens } from './stored-tokens.ts';

interface TokenWriteBufferDeps {
  readonly store: SignInStore;
  /** Called after tokens were saved. */
  readonly onSaved: (signInId: SignInId) => Promise<void>;
  /** Called when a sign-in no longer has unsaved tokens. */
  readonly onSettled: (signInId: SignInId) => Promise<void>;
  /** Delay before a failed write is retried. */
  readonly saveRetryMs: number;
}

/**
 * Keeps the newest tokens of each sign-in that this process has refreshed. A refresh invalidates the tokens that it used, so the new tokens
 * take precedence over the saved ones, even while the database cannot be written (see docs/decisions/sign-in.md).
 */
export class TokenWriteBuffer {
  readonly #deps: TokenWriteBufferDeps;
  readonly #buffered = new Map<string, BufferedTokens>();
  #isClosing = false;

  constructor(deps: TokenWriteBufferDeps) {
    this.#deps = deps;
  }

  /** Returns the tokens to use: the buffered ones if they are newer than the saved ones, otherwise the saved ones. */
  current(signInId: SignInId, saved: StoredTokens | undefined): StoredTokens | undefined {
    const key = signInKey(signInId);
    const buffered = this.#buffered.get(key);
    if (buffered === undefined) return saved;
    if (buffered.isNewerThan(saved)) {
      // A failure is ignored, because `#save` retries.
      if (buffered.saving === undefined) this.#save(buffered).catch(() => {});
      return buffered.tokens;
    }
    // Different or missing tokens come from a later sign-in or sign-out, which makes the buffered tokens obsolete. Saved tokens stay in the
    // buffer, because their history identifies used tokens that a slow read may still return.
    if (!buffered.isSameAs(saved)) this.#buffered.delete(key);
    return saved;
  }

  /**
   * Replaces used tokens. Resolves with false if a sign-in or sign-out in the meantime made the new tokens obsolete. Rejects if the new
   * tokens cannot be saved now; `current` returns them nevertheless.
   */
  replace(
    used: StoredTokens,
    tokens: StoredTokens,
    { signInId, isFirst }: { readonly signInId: SignInId; readonly isFirst: boolean },
  ): Promise<boolean> {
    const key = signInKey(signInId);
    const previous = this.#buffered.get(key);
    const buffered = new BufferedTokens({ signInId, used, tokens, isFirst }, previous);
    // The entry is set before the first await, so from now on `current` never returns the used tokens.
    this.#buffered.set(key, buffered);
    return this.#save(buffered, previous?.saving);
  }

  /** Records tokens that a sign-in has just saved. Keeps the history, so that `current` still recognizes a slow read of older tokens. */
  recordSignIn(signInId: SignInId, tokens: StoredTokens): void {
    const key = signInKey(signInId);
    const previous = this.#buffered.get(key);
    if (previous !== undefined) this.#buffered.set(key, new BufferedTokens({ signInId, tokens }, previous));
  }

  remove(signInId: SignInId): void {
    this.#buffered.delete(signInKey(signInId));
  }

  isUnsaved(signInId: SignInId): boolean {
    return this.#buffered.get(signInKey(signInId))?.isUnsaved === true;
  }

  /** Saves all unsaved tokens for the last time. No retry follows, so tokens whose write fails now are lost with the process. */
  async flush(): Promise<void> {
    this.#isClosing = true;
    const unsaved = [...this.#buffered.values()].filter(({ isUnsaved }) => isUnsaved);
    await Promise.allSettled(unsaved.map((buffered) => this.#save(buffered, buffered.saving)));
  }

  /**
   * Writes the tokens after `previousWrite`, and only over tokens that are known to be used. Resolves with whether the database then holds
   * these tokens.
   */
  #save(buffered: BufferedTokens, previousWrite?: Promise<boolean>): Promise<boolean> {
    const { signInId, tokens } = buffered;
    const { store, onSaved, onSettled } = this.#deps;
    const write = async (): Promise<boolean> => {
      await previousWrite?.catch(() => {});
      const row = await store.read(signInId);
      const isNewer = buffered.isNewerThan(row?.tokens);
      const isWritten = isNewer && (await store.writeIfUnchanged(row, signInId, tokens));
      buffered.wasSaved ||= isWritten;
      buffered.isUnsaved = false;
      if (isWritten) await onSaved(signInId);
      await onSettled(signInId).catch(() => {}); // The lease expires by itself.
      return isWritten || buffered.isSameAs(row?.tokens);
    };
    buffered.saving = write()
      .catch((error: unknown) => {
        this.#scheduleRetry(buffered);
        throw error;
      })
      .finally(() => (buffered.saving = undefined));
    return buffered.saving;
  }

  /** Retries a failed write even if no request needs the tokens, because other processes wait until the used tokens are replaced. */
  #scheduleRetry(buffered: BufferedTokens): void {
    if (buffered.isRetryScheduled || this.#isClosing) return;
    buffered.isRetryScheduled = true;
    const retry = async (): Promise<void> => {
      buffered.isRetryScheduled = false;
      const current = this.#buffered.get(signInKey(buffered.signInId));
      if (current === buffered) await (buffered.saving ?? this.#save(buffered));
      else if (current?.isUnsaved !== true) await this.#deps.onSettled(buffered.signInId);
    };
    // Both failures are harmless: a failed write schedules the next retry, and a lease that is not released expires.
    setTimeout(() => void retry().catch(() => {}), this.#deps.saveRetryMs).unref();
  }
}

/** Number of used tokens that are remembered. No read of the database lags behind by more refreshes than this. */
const REMEMBERED_TOKENS = 7;

interface TokenChange {
  readonly signInId: SignInId;
  /** The tokens that were used up; absent for a sign-in, which replaces whatever was saved. */
  readonly used?: StoredTokens;
  readonly tokens: StoredTokens;
  /** Whether nothing was saved before, because the used tokens are a seed from the environment. */
  readonly isFirst?: boolean;
}

/** The newest tokens of one sign-in, with a history that distinguishes older tokens in the database from tokens of another sign-in. */
class BufferedTokens {
  readonly signInId: SignInId;
  readonly tokens: StoredTokens;
  /** The write in progress. */
  saving: Promise<boolean> | undefined;
  /** Whether the tokens must still be saved. */
  isUnsaved: boolean;
  isRetryScheduled = false;
  /** Whether the database ever had tokens; if so, their absence means a sign-out. */
  wasSaved: boolean;
  readonly usedFingerprints: readonly string[];
  /** The fingerprint of the used tokens that were last seen in the database. */
  lastSeenFingerprint: string | undefined;

  constructor(
    { signInId, used, tokens, isFirst = false }: TokenChange,
    previous: BufferedTokens | undefined,
  ) {
    this.signInId = signInId;
    this.tokens = tokens;
    this.isUnsaved = used !== undefined;
    this.wasSaved = used === undefined || (previous?.wasSaved ?? !isFirst);
    const earlier = previous?.usedFingerprints ?? [];
    const all = used === undefined ? earlier : [...earlier, fingerprint(used)];
    this.usedFingerprints = all.slice(-REMEMBERED_TOKENS);
    this.lastSeenFingerprint = previous?.lastSeenFingerprint ?? all[0];
  }

  isSameAs(saved: StoredTokens | undefined): boolean {
    return saved !== undefined && fingerprint(saved) === fingerprint(this.tokens);
  }

  /** Whether these tokens are newer than the saved state; undefined means that no tokens are saved. Also records the tokens that were seen. */
  isNewerThan(saved: StoredTokens | undefined): boolean {
    if (saved === undefined) return !this.wasSaved;
    this.wasSaved = true;
    // The seed in the environment was changed, so the tokens of the earlier seed are obsolete.
    if (saved.flow === 'seed' && this.tokens.flow === 'seed' && saved.seed !== this.tokens.seed) return true;
    const savedFingerprint = fingerprint(saved);
    // Tokens outside of the history are these tokens or come from another process, so they are not older.
    if (savedFingerprint !== this.lastSeenFingerprint && !this.usedFingerprints.includes(savedFingerprint))
      return false;
    this.lastSeenFingerprint = savedFingerprint;
    return !this.isSameAs(saved);
  }
}

/** Returns a hash of both tokens, because some servers return the same access token with a new refresh token. */
function fingerprint({ accessToken, refreshToken = '' }: StoredTokens): string {
  return hash('sha256', JSON.stringify([accessToken, refreshToken]));
}
