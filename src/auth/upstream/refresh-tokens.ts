import type { Logger } from '../../observability/log.ts';
import type { GuardedFetch } from './oauth/guarded-fetch.ts';
import { OAuthError, isGrantRejected } from './oauth/oauth-error.ts';
import { requestTokens } from './oauth/token-request.ts';
import type { TokenResponse } from './oauth/token-request.ts';
import type { SignInId } from './sign-in-id.ts';
import { type StoredTokens, toStoredTokens } from './stored-tokens.ts';
import type { TokenVault } from './token-vault.ts';

interface RefreshDeps {
  readonly vault: TokenVault;
  readonly signInId: SignInId;
  /** Must ignore `signal`: once the refresh token has been sent, only the response contains a valid refresh token. */
  readonly fetch: GuardedFetch;
  readonly now: () => number;
  readonly log: Logger;
  /** Cancels the refresh, but only before the refresh token is sent. */
  readonly signal: AbortSignal;
}

/**
 * Exchanges the refresh token for new tokens and saves them. A lease across processes ensures that each refresh token is used only once: a
 * process that gets the lease and finds newer tokens in the vault returns those. If the server rejects the grant, the refresh token is
 * deleted; any other failure leaves everything unchanged.
 */
export async function refreshTokens(stale: StoredTokens, deps: RefreshDeps): Promise<StoredTokens> {
  const { vault, signInId, signal } = deps;
  return vault.withRefreshLease(
    signInId,
    async (saved, leaseLost) => {
      // Saved tokens that come from another seed must not replace the tokens of this seed.
      const current = stale.flow === 'seed' && saved?.seed !== stale.seed ? undefined : saved;
      if (current !== undefined && current.accessToken !== stale.accessToken && current.url === stale.url)
        return current;
      // If no tokens are saved, a process has signed out. The exception is a seed, which is not in the vault before its first refresh.
      if (current === undefined && stale.flow !== 'seed') throw signedOut();
      leaseLost.throwIfAborted();
      // The saved tokens are preferred, because another process may have deleted a rejected refresh token in the meantime.
      return useRefreshToken(current ?? stale, { ...deps, isFirst: saved === undefined });
    },
    signal,
  );
}

interface LeasedRefreshDeps extends RefreshDeps {
  /** Whether the vault has no tokens of this sign-in yet, because the tokens are a seed. */
  readonly isFirst: boolean;
}

async function useRefreshToken(stale: StoredTokens, deps: LeasedRefreshDeps): Promise<StoredTokens> {
  const { vault, signInId, fetch, now, signal } = deps;
  const { server, client, refreshToken } = stale;
  if (server === undefined || client === undefined || refreshToken === undefined)
    throw new OAuthError('The token cannot be refreshed', { error: 'invalid_grant' });
  signal.throwIfAborted();
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, resource: stale.resource };
  let response: TokenResponse;
  try {
    response = await requestTokens({ server, client, grant, fetch });
  } catch (error) {
    if (isGrantRejected(error)) await removeRefreshToken(stale, error, deps);
    throw error;
  }
  const refreshed = toStoredTokens(response, stale, now());
  if (await replaceTokens(stale, refreshed, deps)) return refreshed;
  const current = await vault.load(signInId);
  if (current === undefined || current.url !== stale.url) throw signedOut();
  return current;
}

/** Saves the new tokens. Resolves with false if a sign-in or sign-out in the meantime made them obsolete. */
async function replaceTokens(
  stale: StoredTokens,
  tokens: StoredTokens,
  deps: LeasedRefreshDeps,
): Promise<boolean> {
  const { vault, signInId, isFirst, log } = deps;
  try {
    return await vault.replace(stale, tokens, { signInId, isFirst });
  } catch (error) {
    // The old refresh token no longer works, so the new tokens stay in use although they are only in memory.
    log.error('Refreshed tokens cannot be saved. They are kept in memory, and saving is retried.', {
      upstream: signInId.upstream,
      reason: String(error),
    });
    return true;
  }
}

/** Deletes a refresh token that the server will never accept again. Keeps the access token, which may still be valid. */
async function removeRefreshToken(
  stale: StoredTokens,
  error: OAuthError,
  deps: LeasedRefreshDeps,
): Promise<void> {
  const { vault, signInId } = deps;
  if (!(await replaceTokens(stale, { ...stale, refreshToken: undefined }, deps))) return;
  await vault.saveNote(signInId, { ...(await vault.loadNote(signInId)), problem: error.message });
  if (error.error === 'invalid_client' && stale.server !== undefined)
    await vault.removeClient(stale.server.issuer, signInId.upstream);
}

function signedOut(): OAuthError {
  return new OAuthError('The sign-in was removed by a sign-out', { error: 'invalid_grant' });
}
