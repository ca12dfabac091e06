import { authenticate } from './oauth/client-authentication.ts';
import { guardedFetch } from './oauth/guarded-fetch.ts';
import { errorFromAnswer } from './oauth/oauth-error.ts';
import type { SignInTarget } from './prepare-sign-in.ts';
import type { StoredTokens } from './stored-tokens.ts';

/** Forgets a sign-in, and tells the authorization server where it can be told (RFC 7009). */
export async function signOut(
  target: Pick<SignInTarget, 'place' | 'auth' | 'vault' | 'signal'>,
): Promise<'revoked' | 'forgotten' | 'not-signed-in'> {
  const { vault, place } = target;
  const tokens = await vault.load(place);
  // Forgotten first: whatever the server says, nobody here uses it any more.
  await vault.forget(place);
  await vault.note(place, undefined);
  if (tokens === undefined) return 'not-signed-in';
  return (await revoke(tokens, target)) ? 'revoked' : 'forgotten';
}

async function revoke(
  tokens: StoredTokens,
  { auth, signal }: Pick<SignInTarget, 'auth' | 'signal'>,
): Promise<boolean> {
  const { server, client } = tokens;
  if (server?.revocationEndpoint === undefined || client === undefined) return false;
  const fetch = guardedFetch({ upstream: new URL(tokens.url), allowPrivate: auth.allowPrivate, signal });
  const kind = tokens.refreshToken === undefined ? 'access_token' : 'refresh_token';
  const form = new URLSearchParams({
    token: tokens.refreshToken ?? tokens.accessToken,
    token_type_hint: kind,
  });
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await authenticate(client, server, { form, headers });
  const answer = await fetch(new URL(server.revocationEndpoint), {
    method: 'POST',
    headers,
    body: form.toString(),
  });
  if (answer.status >= 200 && answer.status < 300) return true;
  throw errorFromAnswer(`The authorization server ${server.issuer} did not revoke the token`, answer);
}
