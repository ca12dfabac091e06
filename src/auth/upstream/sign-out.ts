import { authenticateClient } from './oauth/client-authentication.ts';
import { createGuardedFetch } from './oauth/guarded-fetch.ts';
import { errorFromResponse } from './oauth/oauth-error.ts';
import type { SignInTarget } from './prepare-sign-in.ts';
import type { StoredTokens } from './stored-tokens.ts';

/** Deletes a sign-in, and revokes it (RFC 7009) if the authorization server supports that. */
export async function signOut(
  target: Pick<SignInTarget, 'signInId' | 'auth' | 'vault' | 'signal'>,
): Promise<'revoked' | 'forgotten' | 'not-signed-in'> {
  const { vault, signInId } = target;
  const tokens = await vault.load(signInId);
  // The tokens are deleted before the revocation, so that they are no longer used even if the revocation fails.
  await vault.remove(signInId);
  await vault.saveNote(signInId, undefined);
  if (tokens === undefined) return 'not-signed-in';
  return (await revokeTokens(tokens, target)) ? 'revoked' : 'forgotten';
}

async function revokeTokens(
  tokens: StoredTokens,
  { auth, signal }: Pick<SignInTarget, 'auth' | 'signal'>,
): Promise<boolean> {
  const { server, client } = tokens;
  if (server?.revocationEndpoint === undefined || client === undefined) return false;
  const fetch = createGuardedFetch({
    upstream: new URL(tokens.url),
    allowPrivate: auth.allowPrivate,
    signal,
  });
  const form = new URLSearchParams({
    token: tokens.refreshToken ?? tokens.accessToken,
    token_type_hint: tokens.refreshToken === undefined ? 'access_token' : 'refresh_token',
  });
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await authenticateClient(client, server, { form, headers });
  const response = await fetch(new URL(server.revocationEndpoint), {
    method: 'POST',
    headers,
    body: form.toString(),
  });
  if (response.status >= 200 && response.status < 300) return true;
  throw errorFromResponse(`The authorization server ${server.issuer} did not revoke the token`, response);
}
