import type { UpstreamAuth } from '../../config/config.ts';
import { deferred } from '../../lib/deferred.ts';
import { GatewayError } from '../../model/errors.ts';
import { openCallbackServer } from './browser/callback-server.ts';
import type { CallbackServer } from './browser/callback-server.ts';
import { authorizationRequest, codeOf, isAnswerTo } from './oauth/authorization-code.ts';
import type { AuthorizationRequest } from './oauth/authorization-code.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { clientFor } from './oauth/client-registration.ts';
import type { Discovered } from './oauth/discovery.ts';
import { OAuthError } from './oauth/oauth-error.ts';
import { requestTokens } from './oauth/token-request.ts';
import { prepareSignIn } from './prepare-sign-in.ts';
import type { Prepared, SignInTarget } from './prepare-sign-in.ts';
import { tokensFrom } from './renew-tokens.ts';
import type { StoredTokens } from './stored-tokens.ts';

export interface SignInOptions extends SignInTarget {
  /** Shows the address to the person; whoever cannot open a browser prints it. */
  readonly open: (url: URL) => Promise<void>;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5 * 60_000;

/** A person signs in with a browser on this machine; the tokens are in the vault when it resolves. */
export async function signIn(options: SignInOptions): Promise<StoredTokens> {
  const { vault, place } = options;
  try {
    const prepared = await prepareSignIn(options);
    const tokens = await withBrowser(options, prepared);
    await vault.save(place, tokens);
    await vault.note(place, undefined);
    return tokens;
  } catch (error) {
    const failure = asFailure(error);
    // Best effort: the list of sign-ins shows it, and whoever waits is told anyway.
    await vault
      .noted(place)
      .then((noted) => vault.note(place, { ...noted, problem: failure.message }))
      .catch(() => {});
    throw failure;
  }
}

async function withBrowser(options: SignInOptions, prepared: Prepared): Promise<StoredTokens> {
  const { vault, place, auth } = options;
  const { server } = prepared.discovered;
  const known = await vault.loadClient(server.issuer, place.upstream);
  const callback = await openCallbackServer({
    ports: auth.callbackPort,
    preferred: known === undefined ? undefined : Number(new URL(known.redirectUri).port),
  });
  try {
    const { redirectUri } = callback;
    const { client, isNew } = await clientFor({
      upstream: place.upstream,
      server,
      configured: configuredClient(auth),
      clientMetadataUrl: auth.clientMetadataUrl,
      known: known?.redirectUri === redirectUri ? known.client : undefined,
      redirectUri,
      grantTypes: ['authorization_code', 'refresh_token'],
      scope: prepared.scope,
      fetch: prepared.fetch,
    });
    if (isNew) await vault.saveClient(server.issuer, place.upstream, { client, redirectUri });
    return await ask(options, prepared, {
      client,
      callback,
      isRegistered: isNew || known?.client.id === client.id,
    });
  } finally {
    await callback[Symbol.asyncDispose]();
  }
}

interface Asking {
  readonly client: OAuthClient;
  readonly callback: CallbackServer;
  /** Whether the client is a registration of ours, which the server may have forgotten. */
  readonly isRegistered: boolean;
}

async function ask(options: SignInOptions, prepared: Prepared, asking: Asking): Promise<StoredTokens> {
  const { place, vault, signal } = options;
  const { server, resource } = prepared.discovered;
  const { client, callback } = asking;
  const request = authorizationRequest({
    server,
    clientId: client.id,
    redirectUri: callback.redirectUri,
    scope: prepared.scope,
    resource,
  });
  const done = deferred<StoredTokens>();
  // Whoever is told below may not be listening yet.
  done.promise.catch(() => {});
  let isTaken = false;
  callback.receive(async (answer) => {
    if (!isAnswerTo(request, answer) || isTaken) return FOREIGN_ANSWER;
    isTaken = true;
    try {
      const tokens = await redeem(options, prepared, {
        client,
        request,
        code: codeOf(answer, request, server),
      });
      done.resolve(tokens);
      return { title: `Signed in to ${place.upstream}`, text: 'You can close this tab.', isGood: true };
    } catch (error) {
      done.reject(error instanceof Error ? error : new Error(String(error)));
      return { title: `Not signed in to ${place.upstream}`, text: asFailure(error).message, isGood: false };
    }
  });
  const stop = (): void =>
    done.reject(signal.reason instanceof Error ? signal.reason : new Error('Stopped.'));
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => done.reject(tooLate(options)), options.timeoutMs ?? TIMEOUT_MS);
  try {
    signal.throwIfAborted();
    await Promise.race([options.open(request.url), done.promise]);
    return await done.promise;
  } catch (error) {
    // A server that no longer knows the client shows a page of its own, and nobody comes back from there.
    const mayBeUnknown =
      isTimeout(error) || (error instanceof OAuthError && error.error === 'invalid_client');
    if (asking.isRegistered && mayBeUnknown) await vault.forgetClient(server.issuer, place.upstream);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

const FOREIGN_ANSWER = {
  title: 'This is not the answer that is waited for',
  text: 'It belongs to another sign-in, or was used already. Nothing was saved.',
  isGood: false,
};

async function redeem(
  options: SignInOptions,
  prepared: Prepared,
  answer: { readonly client: OAuthClient; readonly request: AuthorizationRequest; readonly code: string },
): Promise<StoredTokens> {
  const { server, resource } = prepared.discovered;
  const { client, request, code } = answer;
  const grant = {
    grant_type: 'authorization_code',
    code,
    code_verifier: request.verifier,
    redirect_uri: request.redirectUri,
    resource,
  };
  const tokens = await requestTokens({ server, client, grant, fetch: prepared.fetch });
  return tokensFrom(tokens, {
    before: { ...grantedBy(prepared, client, options), flow: 'browser' },
    now: options.now(),
  });
}

/** What is remembered beside the tokens; a server that grants what was asked for need not repeat it. */
export function grantedBy(
  prepared: { readonly discovered: Discovered; readonly scope: string | undefined },
  client: OAuthClient,
  { url }: Pick<SignInTarget, 'url'>,
): Pick<StoredTokens, 'url' | 'client' | 'server' | 'scope' | 'resource'> {
  const { server, resource } = prepared.discovered;
  const { issuer, tokenEndpoint, authMethods, signingAlgorithms, revocationEndpoint } = server;
  return {
    url,
    client,
    server: {
      issuer,
      tokenEndpoint,
      authMethods,
      signingAlgorithms,
      ...(revocationEndpoint !== undefined && { revocationEndpoint }),
    },
    ...(prepared.scope !== undefined && { scope: prepared.scope }),
    ...(resource !== undefined && { resource }),
  };
}

export function configuredClient(auth: UpstreamAuth): OAuthClient | undefined {
  if (auth.clientId === undefined) return undefined;
  return {
    id: auth.clientId,
    ...(auth.clientSecret !== undefined && { secret: auth.clientSecret }),
    ...(auth.privateKey !== undefined && { privateKey: auth.privateKey }),
    ...(auth.keyId !== undefined && { keyId: auth.keyId }),
  };
}

/** Every failure of a sign-in is told with the words of whoever refused. */
export function asFailure(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new GatewayError('SIGN_IN_FAILED', `${message}.`.replace(/\.\.$/, '.'), { cause: error });
}

function tooLate({ timeoutMs = TIMEOUT_MS }: SignInOptions): GatewayError {
  const text = `Nobody came back from the browser within ${Math.round(timeoutMs / 1000)} s. Nothing was saved; try again.`;
  return new GatewayError('SIGN_IN_FAILED', text, { details: { reason: 'timeout' } });
}

function isTimeout(error: unknown): boolean {
  return error instanceof GatewayError && error.details['reason'] === 'timeout';
}
