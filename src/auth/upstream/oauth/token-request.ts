import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { authenticateClient } from './client-authentication.ts';
import type { OAuthClient } from './client-authentication.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { sanitizeText } from '../../../core/lib/sanitize-text.ts';
import { OAuthError, errorFromResponse } from './oauth-error.ts';
import type { AuthorizationServerMetadata } from './server-discovery.ts';

export interface TokenResponse {
  readonly accessToken: string;
  readonly refreshToken?: string | undefined;
  /** Lifetime of the access token in seconds. */
  readonly expiresIn?: number | undefined;
  readonly scope?: string | undefined;
  /** The name of the account, if the response has an ID token. */
  readonly account?: string | undefined;
}

/** Sends a token request. Accepts any 2xx status; otherwise throws an `OAuthError` that quotes the server. */
export async function requestTokens(options: {
  readonly server: Pick<
    AuthorizationServerMetadata,
    'issuer' | 'tokenEndpoint' | 'authMethods' | 'signingAlgorithms'
  >;
  readonly client: OAuthClient;
  readonly grant: Readonly<Record<string, string | undefined>>;
  readonly fetch: GuardedFetch;
}): Promise<TokenResponse> {
  const { server, client, grant, fetch } = options;
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(grant)) if (value !== undefined) form.set(name, value);
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await authenticateClient(client, server, { form, headers });
  const response = await fetch(new URL(server.tokenEndpoint), {
    method: 'POST',
    headers,
    body: form.toString(),
  });
  const problem = `The authorization server ${server.issuer} issued no token`;
  const body = response.status >= 200 && response.status < 300 ? parseObject(response.text) : undefined;
  // Some servers send errors with status 200.
  if (body === undefined || typeof body['error'] === 'string') throw errorFromResponse(problem, response);
  return readTokens(body, problem, response.status);
}

function readTokens(body: JsonObject, problem: string, status: number): TokenResponse {
  const { access_token: accessToken, refresh_token: refreshToken, scope } = body;
  if (typeof accessToken !== 'string' || accessToken === '')
    throw new OAuthError(`${problem}: the response has no access_token`, { status });
  // A token with other characters would break every request, and could inject headers.
  if (!/^[\x21-\x7e]+$/.test(accessToken))
    throw new OAuthError(`${problem}: the access_token has characters that are not allowed in a header`, {
      status,
    });
  const type = body['token_type'];
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer' && type.toLowerCase() !== 'n_a')
    throw new OAuthError(
      `${problem}: the token has the unsupported type ${JSON.stringify(type.slice(0, 50))}`,
      { status },
    );
  const lifetime = body['expires_in'];
  // Some servers send the number as a string. Other types are not converted, because a deeply nested list would exceed the stack.
  const expiresIn =
    typeof lifetime === 'number' || typeof lifetime === 'string' ? Number(lifetime) : Number.NaN;
  return {
    accessToken,
    refreshToken: typeof refreshToken === 'string' && refreshToken !== '' ? refreshToken : undefined,
    expiresIn: Number.isFinite(expiresIn) && expiresIn > 0 ? expiresIn : undefined,
    scope: typeof scope === 'string' && scope !== '' ? scope : undefined,
    account: readAccount(body['id_token']),
  };
}

/** Reads the account for display. The signature is not checked, because the token endpoint itself sent the ID token. */
function readAccount(idToken: unknown): string | undefined {
  if (typeof idToken !== 'string') return undefined;
  const claims = parseObject(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
  for (const name of ['email', 'preferred_username', 'name', 'sub']) {
    const value = claims?.[name];
    const account = typeof value === 'string' ? sanitizeText(value).slice(0, 200) : '';
    if (account !== '') return account;
  }
  return undefined;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller reports the content of the response where it matters.
  }
}
