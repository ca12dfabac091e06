import { createHash } from 'node:crypto';

import { GatewayError } from '../../../model/errors.ts';
import type { UpstreamName } from '../../../model/ids.ts';
import { isJsonObject } from '../../../model/json.ts';
import type { JsonObject } from '../../../model/json.ts';
import type { StoredTokens } from '../stored-tokens.ts';

const PREFIX = 'TRUNKLINE_TOKENS_';

/** The variable that brings the tokens of a server into a container: `TRUNKLINE_TOKENS_MY_SERVER` for "my-server". */
export function seedVariable(upstream: UpstreamName): string {
  return PREFIX + upstream.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
}

/** The tokens of that variable: an access token as it is, or the answer of a token endpoint with what renewing it needs. */
export function seedOf(
  upstream: UpstreamName,
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly url: string;
    readonly now: number;
  },
): StoredTokens | undefined {
  const name = seedVariable(upstream);
  const text = options.env[name]?.trim() ?? '';
  if (text === '') return undefined;
  const seed = createHash('sha256').update(text).digest('base64url').slice(0, 16);
  const common = { url: options.url, obtainedAt: options.now, flow: 'seed', seed } as const;
  if (!text.startsWith('{')) return { ...common, accessToken: checked(text, name) };
  const value = parsed(text, name);
  const read = (key: string): string | undefined => {
    const found = value[key];
    return typeof found === 'string' && found !== '' ? found : undefined;
  };
  const [issuer, tokenEndpoint, refreshToken] = [
    read('issuer'),
    read('token_endpoint'),
    read('refresh_token'),
  ];
  const [id, secret, scope, resource] = [
    read('client_id'),
    read('client_secret'),
    read('scope'),
    read('resource'),
  ];
  const canRenew = refreshToken !== undefined && tokenEndpoint !== undefined && id !== undefined;
  if (refreshToken !== undefined && !canRenew)
    throw unusable(name, 'a "refresh_token" needs "token_endpoint" and "client_id" beside it');
  const expiresAt = Number(value['expires_at'] ?? Number.NaN);
  const access = read('access_token');
  if (access === undefined && !canRenew) throw unusable(name, 'it has no "access_token"');
  return {
    ...common,
    accessToken: access === undefined ? '' : checked(access, name),
    // Without an access token, or without its end, the first thing to do is to renew it.
    ...(access === undefined
      ? { expiresAt: options.now }
      : Number.isFinite(expiresAt) && { expiresAt: expiresAt * 1000 }),
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
    ...(canRenew && {
      refreshToken,
      client: { id, ...(secret !== undefined && { secret }) },
      server: {
        issuer: issuer ?? new URL(tokenEndpoint).origin,
        tokenEndpoint,
        authMethods: [],
        signingAlgorithms: [],
      },
    }),
  };
}

function checked(token: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw unusable(name, 'its token has characters that no header can carry');
}

function parsed(text: string, name: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Said below, without the text, which is a secret.
  }
  throw unusable(name, 'it begins with "{" and is not a JSON object');
}

function unusable(name: string, problem: string): GatewayError {
  return new GatewayError('SECRET_MISSING', `The environment variable ${name} cannot be used: ${problem}.`, {
    details: { name },
  });
}
