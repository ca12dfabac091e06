import type { Challenge } from './oauth/challenge.ts';
import { requestTokens } from './oauth/token-request.ts';
import { prepareSignIn } from './prepare-sign-in.ts';
import type { SignInTarget } from './prepare-sign-in.ts';
import { tokensFrom } from './renew-tokens.ts';
import { asFailure, configuredClient, grantedBy } from './sign-in.ts';
import type { StoredTokens } from './stored-tokens.ts';

/** A machine gets tokens for itself, with its secret or its private key; one process at a time, and the others take what it got. */
export async function signInAsMachine(
  target: SignInTarget,
  options: { readonly challenge?: Challenge; readonly not?: string | undefined } = {},
): Promise<StoredTokens> {
  const { vault, place } = target;
  return vault.refreshing(
    place,
    async (current) => {
      const isUsable = current?.url === target.url && current.accessToken !== options.not;
      if (isUsable && (current.expiresAt ?? Number.POSITIVE_INFINITY) > target.now()) return current;
      try {
        const tokens = await request(target, options.challenge);
        await vault.save(place, tokens);
        await vault.note(place, undefined);
        return tokens;
      } catch (error) {
        const failure = asFailure(error);
        await vault.note(place, { ...(await vault.noted(place)), problem: failure.message });
        throw failure;
      }
    },
    target.signal,
  );
}

async function request(target: SignInTarget, challenge: Challenge | undefined): Promise<StoredTokens> {
  const client = configuredClient(target.auth);
  if (client === undefined) throw new Error('"auth.clientId" is missing');
  const prepared = await prepareSignIn(target, challenge);
  const { server, resource } = prepared.discovered;
  const grant = { grant_type: 'client_credentials', scope: prepared.scope, resource };
  const answer = await requestTokens({ server, client, grant, fetch: prepared.fetch });
  const before = { ...grantedBy(prepared, client, target), flow: 'client-credentials' as const };
  // A refresh token would be one more secret for what the client can ask for anyway.
  const { refreshToken: _unused, ...rest } = answer;
  return tokensFrom(rest, { before, now: target.now() });
}
