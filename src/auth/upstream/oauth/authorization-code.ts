import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { GatewayError } from '../../../model/errors.ts';
import { isLoopbackHost } from './addresses.ts';
import type { AuthorizationServer } from './discovery.ts';
import { errorFromCallback } from './oauth-error.ts';

/** One question to the person, with what is needed to believe the answer. */
export interface AuthorizationRequest {
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** Makes the address that the browser opens. PKCE with S256 always: a server that does not say it can is refused. */
export function authorizationRequest(options: {
  readonly server: AuthorizationServer;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
}): AuthorizationRequest {
  const { server, redirectUri, scope, resource } = options;
  if (server.authorizationEndpoint === undefined)
    throw failed(`The authorization server ${server.issuer} has no page to sign in at.`);
  if (!server.hasS256)
    throw failed(
      `The authorization server ${server.issuer} does not say that it checks PKCE with S256, which is required.`,
    );
  const url = pageAt(server.authorizationEndpoint);
  const state = randomBytes(32).toString('base64url');
  const verifier = randomBytes(48).toString('base64url');
  const { searchParams } = url;
  searchParams.set('response_type', 'code');
  searchParams.set('client_id', options.clientId);
  searchParams.set('redirect_uri', redirectUri);
  searchParams.set('state', state);
  searchParams.set('code_challenge', createHash('sha256').update(verifier).digest('base64url'));
  searchParams.set('code_challenge_method', 'S256');
  if (scope !== undefined) searchParams.set('scope', scope);
  // OpenID providers give refresh tokens only to whoever asked the person for them.
  if (scope?.split(' ').includes('offline_access') === true) searchParams.set('prompt', 'consent');
  if (resource !== undefined) searchParams.set('resource', resource);
  return { url, state, verifier, redirectUri };
}

/** Whether an answer has our `state`; whatever else comes to the callback is not ours to judge. */
export function isAnswerTo(request: AuthorizationRequest, answer: URLSearchParams): boolean {
  return isEqual(answer.get('state') ?? '', request.state);
}

/** The code of an answer that is meant for this request and comes from this server. */
export function codeOf(
  answer: URLSearchParams,
  request: AuthorizationRequest,
  server: Pick<AuthorizationServer, 'issuer' | 'namesIssuer'>,
): string {
  if (!isAnswerTo(request, answer)) throw failed('The answer in the browser belongs to another sign-in.');
  const iss = answer.get('iss');
  // Before anything else of the answer is believed, its error text included.
  if (iss === null ? server.namesIssuer : iss !== server.issuer) {
    const said =
      iss === null ? 'does not name its issuer' : `names the issuer ${JSON.stringify(iss.slice(0, 200))}`;
    throw failed(`The answer in the browser ${said} instead of ${server.issuer}. Nothing was saved.`);
  }
  const error = answer.get('error');
  if (error !== null) throw errorFromCallback(error, answer.get('error_description'));
  const code = answer.get('code');
  if (code === null || code === '')
    throw failed('The answer in the browser has no code. Nothing was saved; try again.');
  return code;
}

/** A browser opens more than pages, so what it is given is looked at. */
function pageAt(endpoint: string): URL {
  const url = new URL(endpoint);
  const isFine = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (!isFine)
    throw failed(
      `The page to sign in at, ${url.origin}, is not https, which is required except on this machine.`,
    );
  return url;
}

/** In a time that does not tell how much of it was right. */
function isEqual(given: string, expected: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(given), hash(expected));
}

function failed(message: string): GatewayError {
  return new GatewayError('SIGN_IN_FAILED', message);
}
