import { lookup as lookUp } from 'node:dns';
import { lookup as lookUpNow } from 'node:dns/promises';
import { request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';

import { GatewayError } from '../../../model/errors.ts';
import { isLoopbackHost, isPrivateAddress } from './addresses.ts';

export interface GuardedAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface GuardedRequest {
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Nobody reads the body, which may be a stream without an end. */
  readonly headersOnly?: boolean;
}

export type GuardedFetch = (url: URL, request?: GuardedRequest) => Promise<GuardedAnswer>;

export interface GuardOptions {
  /** The server that we sign in to; who talks to a public one has no business in private networks. */
  readonly upstream: URL;
  /** Whether the configuration says that private addresses are fine. */
  readonly allowPrivate: boolean;
  /** Without one an exchange ends by itself only: who leaves does not know whether what was sent has been done. */
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** How names become addresses; a parameter for tests. */
  readonly lookup?: typeof lookUp;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 512 * 1024;
const MAX_REDIRECTS = 3;

/**
 * Fetches what a foreign server told us to fetch: https except on this machine, bounded in time and size, redirects of a GET
 * within its origin only and of a POST none, and no private addresses unless the upstream itself is in such a network.
 */
export function guardedFetch(options: GuardOptions): GuardedFetch {
  let isInside: Promise<boolean> | undefined;
  const mayBePrivate = (): Promise<boolean> =>
    (isInside ??= options.allowPrivate ? Promise.resolve(true) : isPrivateHost(options.upstream.hostname));
  return async (url, request = {}) => {
    const mayPrivate = await mayBePrivate();
    let target = url;
    for (let redirects = 0; ; redirects++) {
      checkAddress(target, mayPrivate);
      const answer = await exchange(target, request, { ...options, mayPrivate });
      const next = redirectOf(answer, target);
      if (next === undefined) return answer;
      if (request.method === 'POST')
        throw refused(target, `redirects to ${next.origin}, and what is sent there is not for others`);
      if (next.origin !== target.origin) throw refused(target, `redirects to another origin, ${next.origin}`);
      if (redirects === MAX_REDIRECTS) throw refused(target, 'redirects too often');
      target = next;
    }
  };
}

function checkAddress(url: URL, mayBePrivate: boolean): void {
  const isLocal = isLoopbackHost(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal))
    throw refused(url, 'is not https, which is required except on this machine');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!mayBePrivate && (isLocal || (isIP(host) !== 0 && isPrivateAddress(host)))) throw privateAddress(url);
}

function redirectOf(answer: GuardedAnswer, from: URL): URL | undefined {
  const { location } = answer.headers;
  if (answer.status < 301 || answer.status > 308 || answer.status === 304 || location === undefined)
    return undefined;
  if (!URL.canParse(location, from.href)) throw refused(from, 'redirects to what is no address');
  return new URL(location, from);
}

async function exchange(
  url: URL,
  request: GuardedRequest,
  options: GuardOptions & { readonly mayPrivate: boolean },
): Promise<GuardedAnswer> {
  const { timeoutMs = TIMEOUT_MS, signal } = options;
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const body = request.body ?? '';
  const message = send(url, {
    method: request.method ?? 'GET',
    agent: false,
    lookup: options.mayPrivate ? lookUp : publicOnly(url, options.lookup ?? lookUp),
    ...(signal !== undefined && { signal }),
    headers: {
      Accept: 'application/json',
      'User-Agent': 'trunkline',
      ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }),
      ...request.headers,
    },
  });
  let late: GatewayError | undefined;
  const timer = setTimeout(() => {
    late = unreachable(url, `did not answer within ${timeoutMs / 1000} s`);
    message.destroy(late);
  }, timeoutMs);
  try {
    message.end(body);
    const answer = await answerTo(message);
    const isRead = request.headersOnly !== true;
    const text = isRead ? await readBounded(answer, options.maxBytes ?? MAX_BYTES) : '';
    return { status: answer.statusCode ?? 0, headers: answer.headers, text };
  } catch (error) {
    if (error instanceof TooLarge) throw refused(url, 'answers with too much');
    throw late ?? asUnreachable(url, error, signal);
  } finally {
    clearTimeout(timer);
    message.destroy();
  }
}

/** Errors after the answer began come with its body, and of a request that was left nothing matters. */
function answerTo(message: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    message.on('response', resolve);
    message.on('error', reject);
  });
}

class TooLarge extends Error {}

async function readBounded(answer: IncomingMessage, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new TooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Judged where the name is resolved, so that the address that is checked is the one that is used. */
function publicOnly(url: URL, look: typeof lookUp): LookupFunction {
  return (hostname, options, callback) => {
    look(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, '');
      if (addresses.some(({ address }) => isPrivateAddress(address)))
        return callback(privateAddress(url), '');
      if (options.all === true) return callback(null, addresses);
      return callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
  };
}

async function isPrivateHost(hostname: string): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  if (isLoopbackHost(host)) return true;
  if (isIP(host) !== 0) return isPrivateAddress(host);
  // A name that cannot be resolved is not a reason to look into private networks.
  const addresses = await lookUpNow(host, { all: true }).catch(() => []);
  return addresses.some(({ address }) => isPrivateAddress(address));
}

function privateAddress(url: URL): GatewayError {
  return refused(
    url,
    'has a private address, and the server that names it is public; "allowPrivate" in its "auth" permits it',
  );
}

function refused(url: URL, problem: string): GatewayError {
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

function asUnreachable(url: URL, error: unknown, signal: AbortSignal | undefined): Error {
  if (error instanceof GatewayError) return error;
  if (signal?.aborted === true && signal.reason instanceof Error) return signal.reason;
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  return unreachable(url, `cannot be reached (${code})`, error);
}
