import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { GatewayError } from '../../../core/errors.ts';
import { errorFromCallback } from './oauth-error.ts';
import { isLoopbackHost } from './private-addresses.ts';
import type { AuthorizationServerMetadata } from './server-discovery.ts';

/** An authorization request for the browser, with the secrets for checking the response and for redeeming the code. */
export interface AuthorizationRequest {
  readonly url: URL;
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
}

/** Builds the address that the browser opens. PKCE with S256 is mandatory: a server that does not advertise it is rejected. */
export function createAuthorizationRequest(options: {
  readonly server: AuthorizationServerMetadata;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly resource: string | undefined;
}): AuthorizationRequest {
  const { server, redirectUri, scope, resource } = options;
  if (server.authorizationEndpoint === undefined)
    throw signInFailed(
      `The authorization server ${server.issuer} has no sign-in page. Run \`trunkline login\` with \`--device\` or \`--token\` instead.`,
    );
  if (!server.hasS256)
    throw signInFailed(
      `The authorization server ${server.issuer} does not advertise PKCE with S256, which is required.`,
    );
  const url = parseSignInPage(server.authorizationEndpoint);
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
  // OpenID providers issue refresh tokens only if the person was asked for consent.
  if (scope?.split(' ').includes('offline_access') === true) searchParams.set('prompt', 'consent');
  if (resource !== undefined) searchParams.set('resource', resource);
  return { url, state, verifier, redirectUri };
}

/** Whether a response has the `state` of the request; any other request to the callback is ignored. */
export function isResponseTo(request: AuthorizationRequest, response: URLSearchParams): boolean {
  return isEqual(response.get('state') ?? '', request.state);
}

/** Returns the code of a response after checking that it belongs to this request and comes from this server. */
export function readAuthorizationCode(
  response: URLSearchParams,
  request: AuthorizationRequest,
  server: Pick<AuthorizationServerMetadata, 'issuer' | 'namesIssuer'>,
): string {
  if (!isResponseTo(request, response))
    throw signInFailed('The response in the browser belongs to another sign-in.');
  const issuer = response.get('iss');
  // The issuer is checked before anything else in the response is used, including its error text.
  if (issuer === null ? server.namesIssuer : issuer !== server.issuer) {
    const problem =
      issuer === null
        ? 'does not name its issuer'
        : `names the issuer ${JSON.stringify(issuer.slice(0, 200))}`;
    throw signInFailed(
      `The response in the browser ${problem}; expected ${server.issuer}. Nothing was saved.`,
    );
  }
  const error = response.get('error');
  if (error !== null) throw errorFromCallback(error, response.get('error_description'));
  const code = response.get('code');
  if (code === null || code === '')
    throw signInFailed('The response in the browser has no code. Nothing was saved; try again.');
  return code;
}

/** Parses the address of the sign-in page. Throws unless it is a secure web page, because a browser can open other addresses, too. */
function parseSignInPage(endpoint: string): URL {
  const url = new URL(endpoint);
  const isAllowed = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (!isAllowed)
    throw signInFailed(
      `The sign-in page at ${url.origin} does not use https, which is required except on this machine.`,
    );
  return url;
}

/** Compares two texts in constant time. Hashing gives both the same length, which `timingSafeEqual` requires. */
function isEqual(actual: string, expected: string): boolean {
  const hash = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(actual), hash(expected));
}

function signInFailed(message: string): GatewayError {
  return new GatewayError('SIGN_IN_FAILED', message);
}
