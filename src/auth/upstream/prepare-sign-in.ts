import type { UpstreamAuth } from '../../config/config.ts';
import { GatewayError } from '../../core/errors.ts';
import { mergeScopes, parseChallenge } from './oauth/challenge.ts';
import type { Challenge } from './oauth/challenge.ts';
import type { OAuthClient } from './oauth/client-authentication.ts';
import { resolveClient } from './oauth/client-registration.ts';
import { createGuardedFetch } from './oauth/guarded-fetch.ts';
import type { GuardedFetch } from './oauth/guarded-fetch.ts';
import { discoverAuthorizationServer } from './oauth/server-discovery.ts';
import type { DiscoveryResult } from './oauth/server-discovery.ts';
import type { SignInId } from './sign-in-id.ts';
import type { StoredTokens } from './stored-tokens.ts';
import type { ClientRegistration, TokenVault } from './token-vault.ts';

/** The upstream to sign in to, with the dependencies of every sign-in flow. */
export interface SignInTarget {
  readonly signInId: SignInId;
  /** The address, with references resolved. */
  readonly url: string;
  readonly auth: UpstreamAuth;
  readonly vault: TokenVault;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

export interface PreparedSignIn {
  readonly discovered: DiscoveryResult;
  readonly scope: string | undefined;
  readonly fetch: GuardedFetch;
}

/** Discovers the authorization server, and decides which scopes to request. */
export async function prepareSignIn(
  target: SignInTarget,
  knownChallenge?: Challenge,
): Promise<PreparedSignIn> {
  const { signInId, auth, vault, signal } = target;
  const url = new URL(target.url);
  const fetch = createGuardedFetch({ upstream: url, allowPrivate: auth.allowPrivate, signal });
  const note = await vault.loadNote(signInId);
  const hasNotedChallenge =
    note?.resourceMetadata !== undefined || note?.scope !== undefined || note?.more !== undefined;
  const challenge = knownChallenge ?? (hasNotedChallenge ? note : await requestChallenge(url, fetch));
  const discovered = await discoverAuthorizationServer({ url, challenge, issuer: auth.issuer, fetch });
  // A 403 asked for more scopes. The new grant replaces the old one, so the scopes granted so far are requested again.
  const grantedScope = note?.more === undefined ? undefined : (await vault.load(signInId))?.scope;
  const extraScope = mergeScopes(grantedScope, note?.more);
  return { discovered, scope: chooseScope(auth, { challenge, discovered, extraScope }), fetch };
}

/** Sends `initialize` without credentials, and returns the challenge of the 401 response. Returns an empty challenge if there is none. */
async function requestChallenge(url: URL, fetch: GuardedFetch): Promise<Challenge> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'trunkline', version: '0' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  try {
    const response = await fetch(url, { method: 'POST', headers, body, headersOnly: true });
    return response.status === 401 ? parseChallenge(response.headers['www-authenticate']) : {};
  } catch (error) {
    // A server that redirects gives no challenge, but may publish metadata at its well-known paths.
    if (error instanceof GatewayError && error.code === 'SIGN_IN_FAILED') return {};
    throw error;
  }
}

/**
 * Returns the configured scopes, else those of the challenge, else those that the upstream advertises. Adds `offline_access` if the
 * authorization server supports it, because some servers issue a refresh token only then.
 */
function chooseScope(
  auth: UpstreamAuth,
  options: {
    readonly challenge: Challenge;
    readonly discovered: DiscoveryResult;
    readonly extraScope: string | undefined;
  },
): string | undefined {
  const { challenge, discovered, extraScope } = options;
  const configured = auth.scopes.length === 0 ? undefined : auth.scopes.join(' ');
  const scope = mergeScopes(configured ?? challenge.scope, extraScope) ?? discovered.resourceScopes;
  const wantsRefreshToken =
    scope !== undefined &&
    auth.flow !== 'client-credentials' &&
    discovered.server.scopes.includes('offline_access');
  return wantsRefreshToken ? mergeScopes(scope, 'offline_access') : scope;
}

/** Returns the client in the configuration. */
export function readConfiguredClient(auth: UpstreamAuth): OAuthClient | undefined {
  if (auth.clientId === undefined) return undefined;
  return {
    id: auth.clientId,
    secret: auth.clientSecret,
    privateKey: auth.privateKey,
    keyId: auth.keyId,
  };
}

/** Returns the client for a redirect address, and registers and saves one if necessary. */
export async function obtainClient(
  { vault, signInId, auth }: SignInTarget,
  prepared: PreparedSignIn,
  options: {
    /** The earlier registration with this issuer, which can be used if it has the same redirect address. */
    readonly registration: ClientRegistration | undefined;
    readonly redirectUri: string;
    readonly grantTypes: readonly string[];
  },
): Promise<{ readonly client: OAuthClient; readonly isNew: boolean }> {
  const { registration, redirectUri, grantTypes } = options;
  const { server } = prepared.discovered;
  const { client, isNew } = await resolveClient({
    upstream: signInId.upstream,
    server,
    configured: readConfiguredClient(auth),
    clientMetadataUrl: auth.clientMetadataUrl,
    registered: registration?.redirectUri === redirectUri ? registration.client : undefined,
    redirectUri,
    grantTypes,
    scope: prepared.scope,
    fetch: prepared.fetch,
  });
  if (isNew) await vault.saveClient(server.issuer, signInId.upstream, { client, redirectUri });
  return { client, isNew };
}

/** Returns the details to store with the tokens. The scope is the requested one, because the server need not repeat it. */
export function toGrantDetails(
  prepared: PreparedSignIn,
  client: OAuthClient,
  { url }: Pick<SignInTarget, 'url'>,
): Pick<StoredTokens, 'url' | 'client' | 'server' | 'scope' | 'resource'> {
  const { server, resource } = prepared.discovered;
  const { issuer, tokenEndpoint, authMethods, signingAlgorithms, revocationEndpoint } = server;
  return {
    url,
    client,
    server: { issuer, tokenEndpoint, authMethods, signingAlgorithms, revocationEndpoint },
    scope: prepared.scope,
    resource,
  };
}

/** Converts a failure of a sign-in into a `SIGN_IN_FAILED` error with the same message. Returns a `GatewayError` unchanged. */
export function toSignInError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new GatewayError('SIGN_IN_FAILED', `${message}.`.replace(/\.\.$/, '.'), { cause: error });
}
