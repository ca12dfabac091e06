import { createHash } from 'node:crypto';

import { GatewayError } from '../../../core/errors.ts';
import type { UpstreamName } from '../../../core/ids.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import type { StoredTokens } from '../stored-tokens.ts';

const PREFIX = 'TRUNKLINE_TOKENS_';

/** Returns the name of the environment variable with the first tokens of a server: `TRUNKLINE_TOKENS_MY_SERVER` for "my-server". */
export function tokenSeedVariable(upstream: UpstreamName): string {
  return PREFIX + upstream.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

/** Parses the value of the variable, which is an access token, or a token response in JSON with the values that a refresh needs. */
export function readTokenSeed(
  upstream: UpstreamName,
  options: {
    readonly value: string;
    readonly url: string;
    readonly now: number;
  },
): StoredTokens | undefined {
  const variable = tokenSeedVariable(upstream);
  const text = options.value.trim();
  if (text === '') return undefined;
  const seed = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  const common = { url: options.url, obtainedAt: options.now, flow: 'seed', seed } as const;
  if (!text.startsWith('{')) return { ...common, accessToken: checkToken(text, variable) };
  return { ...common, ...parseSeed(text, variable, options.now) };
}

function parseSeed(
  text: string,
  variable: string,
  now: number,
): Pick<StoredTokens, 'accessToken'> & Partial<StoredTokens> {
  const value = parseObject(text, variable);
  const read = (key: string): string | undefined => {
    const found = value[key];
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const accessToken = read('access_token');
  const refreshToken = read('refresh_token');
  const tokenEndpoint = read('token_endpoint');
  const id = read('client_id');
  const canRefresh = refreshToken !== undefined && tokenEndpoint !== undefined && id !== undefined;
  if (refreshToken !== undefined && !canRefresh)
    throw unusableSeed(variable, 'a "refresh_token" needs "token_endpoint" and "client_id" beside it');
  if (accessToken === undefined && !canRefresh) throw unusableSeed(variable, 'it has no "access_token"');
  const expiresAt = Number(value['expires_at'] ?? Number.NaN);
  const tokens = {
    accessToken: accessToken === undefined ? '' : checkToken(accessToken, variable),
    // Without an access token, the seed counts as expired, so it is refreshed before the first request. `expires_at` is in seconds.
    expiresAt: accessToken === undefined ? now : Number.isFinite(expiresAt) ? expiresAt * 1000 : undefined,
    scope: read('scope'),
    resource: read('resource'),
  };
  if (!canRefresh) return tokens;
  return {
    ...tokens,
    refreshToken,
    client: { id, secret: read('client_secret') },
    server: {
      issuer: read('issuer') ?? new URL(tokenEndpoint).origin,
      tokenEndpoint,
      authMethods: [],
      signingAlgorithms: [],
    },
  };
}

function parseObject(text: string, variable: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // The error of the parser is dropped, because it may quote the text, which is a secret.
  }
  throw unusableSeed(variable, 'it begins with "{" and is not a JSON object');
}

function checkToken(token: string, variable: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw unusableSeed(variable, 'its token has characters that are not allowed in a header');
}

function unusableSeed(variable: string, problem: string): GatewayError {
  return new GatewayError(
    'SECRET_MISSING',
    `The environment variable ${variable} cannot be used: ${problem}.`,
    { details: { name: variable } },
  );
}
