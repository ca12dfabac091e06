import type { UpstreamAuth } from '../../config/config.ts';
import { GatewayError } from '../../model/errors.ts';
import { parseChallenge, scopeUnion } from './oauth/challenge.ts';
import type { Challenge } from './oauth/challenge.ts';
import { discover } from './oauth/discovery.ts';
import type { Discovered } from './oauth/discovery.ts';
import { guardedFetch } from './oauth/guarded-fetch.ts';
import type { GuardedFetch } from './oauth/guarded-fetch.ts';
import type { Place } from './place.ts';
import type { TokenVault } from './token-vault.ts';

/** What is signed in to, and with what. */
export interface SignInTarget {
  readonly place: Place;
  /** With references revealed. */
  readonly url: string;
  readonly auth: UpstreamAuth;
  readonly vault: TokenVault;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** What every way of getting tokens needs to know first. */
export interface Prepared {
  readonly discovered: Discovered;
  readonly scope: string | undefined;
  readonly fetch: GuardedFetch;
}

/** Finds the authorization server, and what to ask it for. */
export async function prepareSignIn(target: SignInTarget, given?: Challenge): Promise<Prepared> {
  const { place, auth, vault, signal } = target;
  const url = new URL(target.url);
  const fetch = guardedFetch({ upstream: url, allowPrivate: auth.allowPrivate, signal });
  const noted = await vault.noted(place);
  const hasNoted =
    noted?.resourceMetadata !== undefined || noted?.scope !== undefined || noted?.more !== undefined;
  const challenge = given ?? (hasNoted ? noted : await probe(url, fetch));
  const discovered = await discover({ url, challenge, issuer: auth.issuer, fetch });
  const granted = noted?.more === undefined ? undefined : (await vault.load(place))?.scope;
  const scope = wantedScope(auth, { challenge, discovered, more: scopeUnion(granted, noted?.more) });
  return { discovered, scope, fetch };
}

/** Configured, or what the server asked for, or what it says there is; and a refresh token where that is asked for by a scope. */
function wantedScope(
  auth: UpstreamAuth,
  known: {
    readonly challenge: Challenge;
    readonly discovered: Discovered;
    readonly more: string | undefined;
  },
): string | undefined {
  const { challenge, discovered, more } = known;
  const configured = auth.scopes.length === 0 ? undefined : auth.scopes.join(' ');
  const base = scopeUnion(configured ?? challenge.scope, more) ?? discovered.resourceScopes;
  const isOffline =
    base !== undefined &&
    auth.flow !== 'client-credentials' &&
    discovered.server.scopes.includes('offline_access');
  return isOffline ? scopeUnion(base, 'offline_access') : base;
}

/** Asks the server the first question of any client, to be refused with a challenge. */
async function probe(url: URL, fetch: GuardedFetch): Promise<Challenge> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'trunkline', version: '0' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  try {
    const answer = await fetch(url, { method: 'POST', headers, body, headersOnly: true });
    return answer.status === 401 ? parseChallenge(answer.headers['www-authenticate']) : {};
  } catch (error) {
    // One that redirects says nothing; its well-known paths may.
    if (error instanceof GatewayError && error.code === 'SIGN_IN_FAILED') return {};
    throw error;
  }
}
