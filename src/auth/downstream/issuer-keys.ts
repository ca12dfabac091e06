import { createRemoteJWKSet, customFetch } from 'jose';
import type { JWTVerifyGetKey } from 'jose';

import { readBounded } from '../../core/lib/read-bounded.ts';
import { startTimeout } from '../../core/lib/start-timeout.ts';

interface IssuerKeysOptions {
  readonly issuer: string;
  /** The address of the keys. If absent, it is read from the issuer's metadata. */
  readonly jwksUrl?: string | undefined;
  readonly now: () => number;
  readonly fetch?: typeof fetch;
  /** Minimum interval between two requests, however many tokens name an unknown key. */
  readonly pauseMs?: number;
  /** Maximum time of one request. */
  readonly timeoutMs?: number;
}

/** Thrown if the keys cannot be fetched. The token may still be valid. */
export class IssuerUnreachableError extends Error {}

const MAX_BYTES = 512 * 1024;
const TIMEOUT_MS = 5000;
const PAUSE_MS = 10_000;
/** Time after which fetched keys are fetched again. */
const CACHE_MS = 600_000;

/**
 * Returns a function that finds the key for a token among the keys of an issuer. The keys are fetched on first use, and again when they are
 * too old or a token names an unknown key, but at most once per `pauseMs`.
 */
export function createIssuerKeySource(options: IssuerKeysOptions): JWTVerifyGetKey {
  const { issuer, now, pauseMs = PAUSE_MS, timeoutMs = TIMEOUT_MS } = options;
  const get = createBoundedGet(options.fetch ?? fetch, timeoutMs);
  let opening: Promise<JWTVerifyGetKey> | undefined;
  let failedAt: number | undefined;
  const hasFailedLately = (): boolean => failedAt !== undefined && now() - failedAt < pauseMs;
  const open = async (): Promise<JWTVerifyGetKey> => {
    const url = options.jwksUrl ?? (await discoverJwksUrl(issuer, get));
    return createRemoteJWKSet(new URL(url), {
      cacheMaxAge: CACHE_MS,
      cooldownDuration: pauseMs,
      timeoutDuration: timeoutMs,
      [customFetch]: async (address, { headers, signal }) => {
        // The library pauses only after a success. Without a pause after a failure, every token would trigger a request to the issuer.
        if (hasFailedLately()) throw recentFailure();
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
    if (opening === undefined && hasFailedLately()) throw recentFailure();
    opening ??= open();
    try {
      const findKey = await opening.catch((error: unknown) => {
        opening = undefined;
        failedAt = now();
        throw error;
      });
      return await findKey(header, token);
    } catch (error) {
      if (isTokenProblem(error)) throw error;
      throw new IssuerUnreachableError(`The keys of ${issuer} cannot be fetched: ${String(error)}`, {
        cause: error,
      });
    }
  };
}

function recentFailure(): IssuerUnreachableError {
  return new IssuerUnreachableError('The last attempt failed a moment ago.');
}

/** Whether the keys were fetched, and none or several of them match the token. */
function isTokenProblem(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    (error.code === 'ERR_JWKS_NO_MATCHING_KEY' || error.code === 'ERR_JWKS_MULTIPLE_MATCHING_KEYS')
  );
}

type BoundedGet = (url: string, init?: { headers?: Headers; signal?: AbortSignal }) => Promise<Response>;

/** Returns a function that sends a GET request, follows no redirect, and reads at most `MAX_BYTES`. */
function createBoundedGet(fetchUrl: typeof fetch, timeoutMs: number): BoundedGet {
  return async (url, init = {}) => {
    using timeout = startTimeout(timeoutMs, init.signal);
    const response = await fetchUrl(url, { ...init, signal: timeout.signal, redirect: 'error' });
    const body = await readBounded(response.body, MAX_BYTES, timeout.signal);
    if (response.status !== 200) throw new Error(`The response has status ${response.status}.`);
    return new Response(body, {
      status: 200,
      headers: { 'content-type': 'application/json' },
    });
  };
}

/** Reads the address of the keys from the metadata, at the paths of RFC 8414 and of OpenID Connect. */
async function discoverJwksUrl(issuer: string, get: BoundedGet): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const metadataUrls = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
  ];
  if (path !== '') metadataUrls.push(`${origin}${path}/.well-known/openid-configuration`);
  let lastError: unknown;
  for (const metadataUrl of metadataUrls) {
    try {
      const metadata = (await (await get(metadataUrl)).json()) as Record<string, unknown>;
      if (metadata['issuer'] !== issuer) throw new Error(`${metadataUrl} describes another issuer.`);
      const { jwks_uri: url } = metadata;
      if (typeof url === 'string' && URL.canParse(url)) return url;
      throw new Error(`${metadataUrl} has no usable jwks_uri.`);
    } catch (error) {
      lastError = error;
    }
  }
  throw lastError;
}
