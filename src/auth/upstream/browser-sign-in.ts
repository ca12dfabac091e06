import { GatewayError } from '../../core/errors.ts';
import { deferred } from '../../core/lib/deferred.ts';
import { openCallbackServer } from './browser/callback-server.ts';
import type { CallbackServer } from './browser/callback-server.ts';
import {
  createAuthorizationRequest,
  isResponseTo,
  readAuthorizationCode,
} from './oauth/authorization-code.ts';
import type { AuthorizationRequest } from './oauth/authorization-code.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { OAuthError } from './oauth/oauth-error.ts';
import { requestTokens } from './oauth/token-request.ts';
import { toGrantDetails, obtainClient, prepareSignIn, toSignInError } from './prepare-sign-in.ts';
import type { PreparedSignIn, SignInTarget } from './prepare-sign-in.ts';
import { type StoredTokens, toStoredTokens } from './stored-tokens.ts';

interface BrowserSignInOptions extends SignInTarget {
  /** Opens the address in a browser, or shows it to the person. */
  readonly open: (url: URL) => Promise<void>;
  readonly timeoutMs?: number | undefined;
}

/** Time within which the browser must return from the authorization server. */
const TIMEOUT_MS = 5 * 60_000;

/** Signs in with a browser on this machine, and saves the tokens in the vault. */
export async function signInWithBrowser(options: BrowserSignInOptions): Promise<StoredTokens> {
  const { vault, signInId } = options;
  try {
    const prepared = await prepareSignIn(options);
    const tokens = await authorizeInBrowser(options, prepared);
    await vault.save(signInId, tokens);
    await vault.saveNote(signInId, undefined);
    return tokens;
  } catch (error) {
    const failure = toSignInError(error);
    // If a person cancels, the note stays unchanged, because a cancelled sign-in must not become the reason in the next error.
    if (failure.code === 'CALL_CANCELLED') throw failure;
    // Best effort: the note only feeds the list of sign-ins, and the caller gets the error itself.
    await vault
      .loadNote(signInId)
      .then((note) => vault.saveNote(signInId, { ...note, problem: failure.message }))
      .catch(() => {});
    throw failure;
  }
}

async function authorizeInBrowser(
  options: BrowserSignInOptions,
  prepared: PreparedSignIn,
): Promise<StoredTokens> {
  const { vault, signInId, auth } = options;
  const registration = await vault.loadClient(prepared.discovered.server.issuer, signInId.upstream);
  const callback = await openCallbackServer({
    ports: auth.callbackPort,
    // An earlier registration is valid only for its redirect address, which includes the port.
    preferred: registration === undefined ? undefined : Number(new URL(registration.redirectUri).port),
  });
  try {
    const { client, isNew } = await obtainClient(options, prepared, {
      registration,
      redirectUri: callback.redirectUri,
      grantTypes: ['authorization_code', 'refresh_token'],
    });
    const isRegistered = isNew || registration?.client.id === client.id;
    return await waitForTokens(options, prepared, { client, callback, isRegistered });
  } finally {
    await callback[Symbol.asyncDispose]();
  }
}

interface BrowserSession {
  readonly client: OAuthClient;
  readonly callback: CallbackServer;
  /** Whether the client was registered dynamically. A server may forget such a client. */
  readonly isRegistered: boolean;
}

async function waitForTokens(
  options: BrowserSignInOptions,
  prepared: PreparedSignIn,
  session: BrowserSession,
): Promise<StoredTokens> {
  const { signInId, vault, signal } = options;
  const { server, resource } = prepared.discovered;
  const { client, callback } = session;
  const request = createAuthorizationRequest({
    server,
    clientId: client.id,
    redirectUri: callback.redirectUri,
    scope: prepared.scope,
    resource,
  });
  const result = deferred<StoredTokens>();
  // The rejection may come before anything awaits the promise.
  result.promise.catch(() => {});
  let isResponseReceived = false;
  callback.setHandler(async (response) => {
    if (!isResponseTo(request, response) || isResponseReceived) return UNEXPECTED_RESPONSE;
    isResponseReceived = true;
    try {
      const code = readAuthorizationCode(response, request, server);
      result.resolve(await redeemCode(options, prepared, { client, request, code }));
      return { title: `Signed in to ${signInId.upstream}`, text: 'You can close this tab.', isSuccess: true };
    } catch (error) {
      result.reject(error instanceof Error ? error : new Error(String(error)));
      return {
        title: `Not signed in to ${signInId.upstream}`,
        text: toSignInError(error).message,
        isSuccess: false,
      };
    }
  });
  const abort = (): void =>
    result.reject(signal.reason instanceof Error ? signal.reason : new Error('The sign-in was cancelled.'));
  signal.addEventListener('abort', abort, { once: true });
  const timer = setTimeout(() => result.reject(timeoutError(options)), options.timeoutMs ?? TIMEOUT_MS);
  try {
    signal.throwIfAborted();
    // A response, a timeout or an abort ends the sign-in even if `open` never resolves.
    await Promise.race([options.open(request.url), result.promise]);
    return await result.promise;
  } catch (error) {
    // A server that has forgotten the client shows its own error page and never redirects back, so a timeout may have this cause, too.
    const mayBeForgotten =
      isTimeout(error) || (error instanceof OAuthError && error.error === 'invalid_client');
    if (session.isRegistered && mayBeForgotten) await vault.removeClient(server.issuer, signInId.upstream);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

const UNEXPECTED_RESPONSE = {
  title: 'This response was not expected',
  text: 'It belongs to another sign-in, or was used already. Nothing was saved.',
  isSuccess: false,
};

async function redeemCode(
  options: BrowserSignInOptions,
  prepared: PreparedSignIn,
  context: { readonly client: OAuthClient; readonly request: AuthorizationRequest; readonly code: string },
): Promise<StoredTokens> {
  const { server, resource } = prepared.discovered;
  const { client, request, code } = context;
  const grant = {
    grant_type: 'authorization_code',
    code,
    code_verifier: request.verifier,
    redirect_uri: request.redirectUri,
    resource,
  };
  const response = await requestTokens({ server, client, grant, fetch: prepared.fetch });
  const details = { ...toGrantDetails(prepared, client, options), flow: 'browser' as const };
  return toStoredTokens(response, details, options.now());
}

function timeoutError({ timeoutMs = TIMEOUT_MS }: BrowserSignInOptions): GatewayError {
  const text = `The browser did not return within ${Math.round(timeoutMs / 1000)} s. Nothing was saved; try again.`;
  return new GatewayError('SIGN_IN_FAILED', text, { details: { reason: 'timeout' } });
}

function isTimeout(error: unknown): boolean {
  return error instanceof GatewayError && error.details['reason'] === 'timeout';
}
