import { lookup as dnsLookup } from 'node:dns';
import type { LookupAddress } from 'node:dns';
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import { BodyTooLargeError, readBounded } from '../../../core/lib/read-bounded.ts';
import { GatewayError } from '../../../core/errors.ts';
import { isLoopbackHost, isPrivateAddress } from './private-addresses.ts';

interface GuardedResponse {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

interface GuardedRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether to skip the body of the response, which may be an endless stream. */
  readonly headersOnly?: boolean;
}

export type GuardedFetch = (url: URL, request?: GuardedRequest) => Promise<GuardedResponse>;

interface GuardOptions {
  /** The server to sign in to. If its address is public, it must not direct us to private addresses. */
  readonly upstream: URL;
  /** Whether the configuration allows private addresses. */
  readonly allowPrivate: boolean;
  /** Aborts requests. A token refresh passes no signal: after an abort, it would be unknown whether the refresh token was used. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Resolves host names; a parameter for tests. */
  readonly lookup?: typeof dnsLookup;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 512 * 1024;
const MAX_REDIRECTS = 3;

/** The private addresses that may be used: none, those of the private network except this machine, or all. */
type PrivateScope = 'none' | 'network' | 'all';

/**
 * Creates a fetch for addresses that another server supplied. It requires https except on this machine, limits time and size, follows
 * redirects only for a GET within its origin, and refuses private addresses unless the upstream has one or the configuration allows them.
 */
export function createGuardedFetch(options: GuardOptions): GuardedFetch {
  let scopeOfUpstream: Promise<PrivateScope> | undefined;
  return async (url, request = {}) => {
    const scope = await (scopeOfUpstream ??= findPrivateScope(options));
    let target = url;
    for (let redirects = 0; ; redirects++) {
      checkAddress(target, scope);
      const response = await send(target, request, { ...options, scope });
      const next = redirectTarget(response, target);
      if (next === undefined) return response;
      if (request.method === 'POST')
        throw refusedAddress(
          target,
          `redirects a POST to ${next.origin}, which must not receive the credentials in it`,
        );
      if (next.origin !== target.origin)
        throw refusedAddress(target, `redirects to another origin, ${next.origin}`);
      if (redirects === MAX_REDIRECTS)
        throw refusedAddress(target, `redirects more than ${MAX_REDIRECTS} times`);
      target = next;
    }
  };
}

function checkAddress(url: URL, scope: PrivateScope): void {
  const isLocal = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw refusedAddress(url, 'does not use https, which is required except on this machine');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (scope === 'none' && (isLocal || (isIP(host) !== 0 && isPrivateAddress(host))))
    throw privateAddress(url);
  if (scope === 'network' && isLocal) throw localAddress(url);
}

function redirectTarget(response: GuardedResponse, from: URL): URL | undefined {
  const { location } = response.headers;
  if (response.status < 301 || response.status > 308 || response.status === 304 || location === undefined)
    return undefined;
  if (!URL.canParse(location, from.href)) throw refusedAddress(from, 'redirects to an invalid address');
  return new URL(location, from);
}

async function send(
  url: URL,
  request: GuardedRequest,
  options: GuardOptions & { readonly scope: PrivateScope },
): Promise<GuardedResponse> {
  const { timeoutMs = TIMEOUT_MS, maxBytes = MAX_BYTES, signal } = options;
  const createRequest = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const body = request.body ?? '';
  const message = createRequest(url, {
    method: request.method ?? 'GET',
    agent: false,
    lookup: options.scope === 'none' ? publicLookup(url, options.lookup ?? dnsLookup) : dnsLookup,
    signal,
    headers: {
      Accept: 'application/json',
      'User-Agent': 'trunkline',
      ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...request.headers,
    },
  });
  let timeoutError: GatewayError | undefined;
  const timer = setTimeout(() => {
    timeoutError = unreachable(url, `did not respond within ${timeoutMs / 1000} s`);
    message.destroy(timeoutError);
  }, timeoutMs);
  try {
    message.end(body);
    const response = await responseTo(message);
    const text = request.headersOnly === true ? '' : await readBounded(response, maxBytes);
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  } catch (error) {
    if (error instanceof BodyTooLargeError)
      throw refusedAddress(url, `sends a response of more than ${maxBytes} bytes`);
    throw timeoutError ?? toUnreachable(url, error, signal);
  } finally {
    clearTimeout(timer);
    message.destroy();
  }
}

/** Resolves with the response. The error listener stays, so that it also handles an error during the response or after `destroy`. */
function responseTo(message: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    message.on('response', resolve);
    message.on('error', reject);
  });
}

/** Returns a lookup that refuses private addresses. The check is part of the lookup, so the connection uses the checked address. */
function publicLookup(url: URL, lookup: typeof dnsLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      if (addresses.some(({ address }) => isPrivateAddress(address)))
        return callback(privateAddress(url), '');
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

/**
 * Returns the private addresses to which an upstream may direct us. A name counts as private only if all of its addresses are private. Even
 * then, it must not direct us to this machine: the owner of the name could change its addresses between our two connections, and this
 * machine is the only host that we contact without TLS.
 */
async function findPrivateScope({
  upstream,
  allowPrivate,
  lookup = dnsLookup,
}: GuardOptions): Promise<PrivateScope> {
  const host = upstream.hostname.replace(/^\[|\]$/g, '');
  if (allowPrivate || isLoopbackHost(host)) return 'all';
  if (isIP(host) !== 0) return isPrivateAddress(host) ? 'all' : 'none';
  const addresses = await new Promise<readonly LookupAddress[]>((resolve) => {
    // A name that cannot be resolved does not make private addresses acceptable.
    lookup(host, { all: true }, (error, found) => resolve(error === null ? found : []));
  });
  const isPrivate = addresses.length > 0 && addresses.every(({ address }) => isPrivateAddress(address));
  return isPrivate ? 'network' : 'none';
}

function privateAddress(url: URL): GatewayError {
  return refusedAddress(
    url,
    'has a private address, but the server that refers to it is public. Set "allowPrivate" in the "auth" of its entry if this is intended',
  );
}

function localAddress(url: URL): GatewayError {
  return refusedAddress(
    url,
    'is on this machine, but the server that refers to it is another host. Set "allowPrivate" in the "auth" of its entry if this is intended',
  );
}

function refusedAddress(url: URL, problem: string): GatewayError {
  return new GatewayError('SIGN_IN_FAILED', `${url.origin}${url.pathname} ${problem}.`, {
    details: { url: url.origin },
  });
}

function unreachable(url: URL, problem: string, cause?: unknown): GatewayError {
  return new GatewayError('UPSTREAM_UNAVAILABLE', `The authorization server at ${url.origin} ${problem}.`, {
    cause,
    details: { url: url.origin },
  });
}

function toUnreachable(url: URL, error: unknown, signal: AbortSignal | undefined): Error {
  if (error instanceof GatewayError) return error;
  if (signal?.aborted === true && signal.reason instanceof Error) return signal.reason;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return unreachable(url, `cannot be reached (${code})`, error);
}
