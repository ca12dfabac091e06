import type { Challenge } from './oauth/challenge.ts';
import { requestTokens } from './oauth/token-request.ts';
import { readConfiguredClient, toGrantDetails, prepareSignIn, toSignInError } from './prepare-sign-in.ts';
import type { SignInTarget } from './prepare-sign-in.ts';
import { type StoredTokens, toStoredTokens } from './stored-tokens.ts';

/** Gets tokens with the client's own secret or private key. Only one process at a time requests tokens; the others use its result. */
export async function signInWithClientCredentials(
  target: SignInTarget,
  options: {
    readonly challenge?: Challenge | undefined;
    /** An access token that no longer works. */
    readonly rejectedToken?: string | undefined;
  } = {},
): Promise<StoredTokens> {
  const { vault, signInId } = target;
  return vault.withRefreshLease(
    signInId,
    async (current) => {
      const isUsable = current?.url === target.url && current.accessToken !== options.rejectedToken;
      if (isUsable && (current.expiresAt ?? Number.POSITIVE_INFINITY) > target.now()) return current;
      try {
        const tokens = await requestNewTokens(target, options.challenge);
        await vault.save(signInId, tokens);
        await vault.saveNote(signInId, undefined);
        return tokens;
      } catch (error) {
        const failure = toSignInError(error);
        await vault.saveNote(signInId, { ...(await vault.loadNote(signInId)), problem: failure.message });
        throw failure;
      }
    },
    target.signal,
  );
}

async function requestNewTokens(
  target: SignInTarget,
  challenge: Challenge | undefined,
): Promise<StoredTokens> {
  const client = readConfiguredClient(target.auth);
  if (client === undefined) throw new Error('"auth.clientId" is missing in the entry of the server');
  const prepared = await prepareSignIn(target, challenge);
  const { server, resource } = prepared.discovered;
  const grant = { grant_type: 'client_credentials', scope: prepared.scope, resource };
  const response = await requestTokens({ server, client, grant, fetch: prepared.fetch });
  const details = { ...toGrantDetails(prepared, client, target), flow: 'client-credentials' as const };
  // A refresh token is dropped, because it would be one more secret, and the client can request new tokens without it.
  return toStoredTokens({ ...response, refreshToken: undefined }, details, target.now());
}
