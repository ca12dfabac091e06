import type { Logger } from '../../observe/log.ts';
import type { GuardedFetch } from './oauth/guarded-fetch.ts';
import { OAuthError } from './oauth/oauth-error.ts';
import { requestTokens } from './oauth/token-request.ts';
import type { TokenAnswer } from './oauth/token-request.ts';
import type { Place } from './place.ts';
import type { StoredTokens } from './stored-tokens.ts';
import type { TokenVault } from './token-vault.ts';

interface RenewDeps {
  readonly vault: TokenVault;
  readonly place: Place;
  /** One that goes on whatever `signal` says: the answer to what was sent holds the only token that is good from then on. */
  readonly fetch: GuardedFetch;
  readonly now: () => number;
  readonly log: Logger;
  /** Until the token is spent: from then on nothing but an answer ends it. */
  readonly signal: AbortSignal;
}

/**
 * Spends the refresh token once, whoever else wants the same: under a lease across processes, and only if what is saved is still
 * what we know. A dead grant is forgotten; anything else that goes wrong leaves everything as it was.
 */
export async function renewTokens(stale: StoredTokens, deps: RenewDeps): Promise<StoredTokens> {
  const { vault, place } = deps;
  return vault.refreshing(
    place,
    async (saved, lost) => {
      // What an earlier seed became is not what this one will become.
      const current = stale.flow === 'seed' && saved?.seed !== stale.seed ? undefined : saved;
      if (current !== undefined && current.accessToken !== stale.accessToken && current.url === stale.url)
        return current;
      // Whoever signed out in another process meant us, too. A seed is in nobody's vault before its first renewal.
      if (current === undefined && stale.flow !== 'seed') throw signedOut();
      lost.throwIfAborted();
      // What is saved may have lost its refresh token in the meantime, because the server refused it.
      return renewNow(current ?? stale, { ...deps, isFirst: saved === undefined });
    },
    deps.signal,
  );
}

interface RenewNow extends RenewDeps {
  /** Whether nothing is saved: the token is a seed. */
  readonly isFirst: boolean;
}

async function renewNow(stale: StoredTokens, deps: RenewNow): Promise<StoredTokens> {
  const { fetch, now } = deps;
  const { server, client, refreshToken } = stale;
  if (server === undefined || client === undefined || refreshToken === undefined)
    throw new OAuthError('The token cannot be renewed', { error: 'invalid_grant' });
  deps.signal.throwIfAborted();
  const grant = { grant_type: 'refresh_token', refresh_token: refreshToken, resource: stale.resource };
  let answer: TokenAnswer;
  try {
    answer = await requestTokens({ server, client, grant, fetch });
  } catch (error) {
    if (error instanceof OAuthError && error.endsGrant) await giveUp(stale, error, deps);
    throw error;
  }
  const renewed = tokensFrom(answer, { before: stale, now: now() });
  if (await replaced(stale, renewed, deps)) return renewed;
  const current = await deps.vault.load(deps.place);
  if (current === undefined || current.url !== stale.url) throw signedOut();
  return current;
}

/** Whether they count now: whoever signed in or out meanwhile has the last word. */
async function replaced(stale: StoredTokens, tokens: StoredTokens, deps: RenewNow): Promise<boolean> {
  const { vault, place, isFirst, log } = deps;
  try {
    return await vault.replace(stale, tokens, { place, isFirst });
  } catch (error) {
    // The old one is spent: going on with what we have beats signing in again.
    log.error(
      'A sign-in cannot be saved as it is now; it is kept until this process ends, or until it can be.',
      {
        upstream: place.upstream,
        reason: String(error),
      },
    );
    return true;
  }
}

/** What the server will never take again is not offered again; the access token may still live for a while. */
async function giveUp(stale: StoredTokens, error: OAuthError, deps: RenewNow): Promise<void> {
  const { vault, place } = deps;
  const { refreshToken: _dead, ...rest } = stale;
  if (!(await replaced(stale, rest, deps))) return;
  await vault.note(place, { ...(await vault.noted(place)), problem: error.message });
  if (error.error === 'invalid_client' && stale.server !== undefined)
    await vault.forgetClient(stale.server.issuer, place.upstream);
}

function signedOut(): OAuthError {
  return new OAuthError('Somebody signed out', { error: 'invalid_grant' });
}

/** What is kept of an answer; an answer without a new refresh token keeps the old one. */
export function tokensFrom(
  answer: TokenAnswer,
  {
    before,
    now,
  }: { readonly before: Omit<StoredTokens, 'accessToken' | 'obtainedAt'>; readonly now: number },
): StoredTokens {
  const { expiresAt: _before, ...rest } = before;
  return {
    ...rest,
    accessToken: answer.accessToken,
    obtainedAt: now,
    ...(answer.expiresIn !== undefined && { expiresAt: now + answer.expiresIn * 1000 }),
    ...(answer.refreshToken !== undefined && { refreshToken: answer.refreshToken }),
    ...(answer.scope !== undefined && { scope: answer.scope }),
    ...(answer.account !== undefined && { account: answer.account }),
  };
}
