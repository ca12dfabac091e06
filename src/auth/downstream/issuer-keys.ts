import { createRemoteJWKSet, customFetch } from 'jose';
import type { JWTVerifyGetKey } from 'jose';

export interface IssuerKeysOptions {
  readonly issuer: string;
  /** Absent: the issuer's metadata says where. */
  readonly jwksUrl?: string | undefined;
  readonly now: () => number;
  readonly fetch?: typeof fetch;
  /** At least this long between two readings, however many unknown keys are asked for. */
  readonly pauseMs?: number;
}

/** The issuer cannot be asked; that says nothing about a token. */
export class IssuerUnreachable extends Error {}

const MAX_BYTES = 512 * 1024;
const TIMEOUT_MS = 5000;
const PAUSE_MS = 10_000;
const KEEP_MS = 600_000;

/** The keys of an issuer: read when first needed, again when a token names one that is new, and not too often. */
export function issuerKeys(options: IssuerKeysOptions): JWTVerifyGetKey {
  const { issuer, now, pauseMs = PAUSE_MS } = options;
  const get = boundedGet(options.fetch ?? fetch);
  let opening: Promise<JWTVerifyGetKey> | undefined;
  let failedAt: number | undefined;
  const open = async (): Promise<JWTVerifyGetKey> => {
    const url = options.jwksUrl ?? (await jwksUrlOf(issuer, get));
    return createRemoteJWKSet(new URL(url), {
      cacheMaxAge: KEEP_MS,
      cooldownDuration: pauseMs,
      timeoutDuration: TIMEOUT_MS,
      [customFetch]: async (address, { headers, signal }) => {
        // After a failure the same holds as after a success, so that nobody can make us ask for every token.
        if (failedAt !== undefined && now() - failedAt < pauseMs)
          throw new IssuerUnreachable('Asked lately.');
        try {
          return await get(address, { headers, signal });
        } catch (error) {
          failedAt = now();
          throw error;
        }
      },
    });
  };
  return async (header, token) => {
    if (failedAt !== undefined && opening === undefined && now() - failedAt < pauseMs)
      throw new IssuerUnreachable('Asked lately.');
    opening ??= open();
    try {
      const find = await opening.catch((error: unknown) => {
        opening = undefined;
        failedAt = now();
        throw error;
      });
      return await find(header, token);
    } catch (error) {
      if (isAboutToken(error)) throw error;
      throw new IssuerUnreachable(`The keys of ${issuer} cannot be read: ${String(error)}`, { cause: error });
    }
  };
}

/** That there is no such key, or that several fit, comes after the keys were read. */
function isAboutToken(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_JWKS_NO_MATCHING_KEY' || error.code === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS')
  );
}

type Get = (url: string, init?: { headers?: Headers; signal?: AbortSignal }) => Promise<Response>;

/** Without redirects, and not more than keys can need. */
function boundedGet(fetchIt: typeof fetch): Get {
  return async (url, init = {}) => {
    const signal = init.signal ?? AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetchIt(url, { ...init, signal, redirect: 'error' });
    const chunks: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error('It answers with too much.');
      chunks.push(chunk);
    }
    if (response.status !== 200) throw new Error(`It answers with status ${response.status}.`);
    return new Response(Buffer.concat(chunks), {
      status: 200,
      headers: { 'content-type': 'application/json' },
    });
  };
}

/** As clients look for it: the path goes behind the well-known part, and OpenID puts it before. */
async function jwksUrlOf(issuer: string, get: Get): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
  let last: unknown;
  for (const place of places) {
    try {
      const metadata = (await (await get(place)).json()) as Record<string, unknown>;
      if (metadata['issuer'] !== issuer) throw new Error(`${place} is about another issuer.`);
      const { jwks_uri: url } = metadata;
      if (typeof url === 'string' && URL.canParse(url)) return url;
      throw new Error(`${place} does not say where the keys are.`);
    } catch (error) {
      last = error;
    }
  }
  throw last;
}
