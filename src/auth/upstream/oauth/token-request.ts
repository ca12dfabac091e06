import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import { authenticate } from './client-authentication.ts';
import type { OAuthClient } from './client-authentication.ts';
import type { AuthorizationServer } from './discovery.ts';
import type { GuardedFetch } from './guarded-fetch.ts';
import { errorFromAnswer, OAuthError } from './oauth-error.ts';

/** What a token endpoint gave. */
export interface TokenAnswer {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** Seconds. */
  readonly expiresIn?: number;
  readonly scope?: string;
  /** Who signed in, where an ID token says so. */
  readonly account?: string;
}

/** Asks the token endpoint; takes any success, 201 included, and tells the server's own words otherwise. */
export async function requestTokens(options: {
  readonly server: Pick<
    AuthorizationServer,
    'issuer' | 'tokenEndpoint' | 'authMethods' | 'signingAlgorithms'
  >;
  readonly client: OAuthClient;
  readonly grant: Readonly<Record<string, string | undefined>>;
  readonly fetch: GuardedFetch;
}): Promise<TokenAnswer> {
  const { server, client, grant, fetch } = options;
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(grant)) if (value !== undefined) form.set(name, value);
  const headers: Record<string, string> = { 'Content-Type': 'application/x-www-form-urlencoded' };
  await authenticate(client, server, { form, headers });
  const answer = await fetch(new URL(server.tokenEndpoint), {
    method: 'POST',
    headers,
    body: form.toString(),
  });
  const what = `The authorization server ${server.issuer} gave no token`;
  const value = answer.status >= 200 && answer.status < 300 ? parsed(answer.text) : undefined;
  // Some answer errors with 200.
  if (value === undefined || typeof value['error'] === 'string') throw errorFromAnswer(what, answer);
  return read(value, what, answer.status);
}

function read(value: JsonObject, what: string, status: number): TokenAnswer {
  const { access_token: accessToken, refresh_token: refreshToken, scope } = value;
  if (typeof accessToken !== 'string' || accessToken === '')
    throw new OAuthError(`${what}: its answer has no access_token`, { status });
  // What breaks a header would break every request, and could add headers of its own.
  if (!/^[\x21-\x7e]+$/.test(accessToken))
    throw new OAuthError(`${what}: its access_token has characters that no header can carry`, { status });
  const type = value['token_type'];
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer' && type.toLowerCase() !== 'n_a')
    throw new OAuthError(`${what}: its token is of the type ${JSON.stringify(type.slice(0, 50))}`, {
      status,
    });
  const expiresIn = Number(value['expires_in'] ?? Number.NaN);
  const account = accountOf(value['id_token']);
  return {
    accessToken,
    ...(typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken }),
    ...(Number.isFinite(expiresIn) && expiresIn > 0 && { expiresIn }),
    ...(typeof scope === 'string' && scope !== '' && { scope }),
    ...(account !== undefined && { account }),
  };
}

/** For display only, so its signature does not matter: it came from the token endpoint itself. */
function accountOf(idToken: unknown): string | undefined {
  if (typeof idToken !== 'string') return undefined;
  const claims = parsed(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString());
  for (const name of ['email', 'preferred_username', 'name', 'sub']) {
    const value = claims?.[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, 200);
  }
  return undefined;
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined; // The caller tells what came instead.
  }
}
