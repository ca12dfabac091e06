import { isIP } from 'node:net';

export interface HostCheck {
  /** Returns the header that must be rejected, or undefined if the request may pass. */
  findForbiddenHeader(
    host: string | undefined,
    origin: string | undefined,
    /** The socket of the connection. Its address is read only if the host is an IP address, since reading it needs a system call. */
    socket?: { readonly localAddress?: string | undefined },
  ): 'host' | 'origin' | undefined;
  /** Returns whether the `Sec-Fetch-Site` header shows that a page of another site sent a request without an Origin. */
  isForeignPage(host: string | undefined, site: string | readonly string[] | undefined): boolean;
  /** Returns the canonical origin if its pages may read the gateway's responses. */
  readableBy(origin: string | undefined): string | undefined;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;

/**
 * Prevents DNS rebinding: a web page in the user's browser can reach loopback through a host name of its own that resolves to loopback.
 * The Host and Origin headers reveal that name, since browsers do not let pages choose them.
 */
export function hostCheck(options: {
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** The address of the gateway behind a proxy. */
  readonly publicUrl?: string | undefined;
}): HostCheck {
  const { publicUrl } = options;
  const own = publicUrl === undefined ? [] : [new URL(publicUrl)];
  const hosts = new Set([
    ...options.allowedHosts.map((host) => host.toLowerCase()),
    ...own.map(({ host }) => host),
  ]);
  const origins = new Set([
    ...options.allowedOrigins.map(canonicalOrigin),
    ...own.map(({ origin }) => origin),
  ]);

  const isHostAllowed = (
    host: string | undefined,
    socket: Parameters<HostCheck['findForbiddenHeader']>[2],
  ): boolean => {
    if (host === undefined) return false;
    if (LOOPBACK_HOST.test(host)) return true;
    const name = host.toLowerCase();
    const bare = name.replace(/:\d{1,5}$/, '');
    // A page needs a host name for DNS rebinding, so the IP address of the socket itself is safe.
    if (isIP(withoutBrackets(bare)) !== 0 && withoutBrackets(bare) === plainAddress(socket?.localAddress))
      return true;
    return hosts.has(name) || hosts.has(bare);
  };
  const readableBy = (origin: string | undefined): string | undefined => {
    if (origin === undefined) return undefined;
    const canonical = canonicalOrigin(origin);
    return origins.has(canonical) ? canonical : undefined;
  };
  return {
    readableBy,
    // Requests for images, links and the like have no Origin. Pages of other loopback ports are allowed, as in `findForbiddenHeader`.
    isForeignPage: (host, site) =>
      site !== undefined &&
      site !== 'same-origin' &&
      site !== 'none' &&
      !(site === 'same-site' && LOOPBACK_HOST.test(host ?? '')),
    findForbiddenHeader: (host, origin, socket) => {
      if (!isHostAllowed(host, socket)) return 'host';
      if (origin === undefined || readableBy(origin) !== undefined) return undefined;
      // A page of this machine may send requests to loopback, although it cannot read the responses.
      const isLocal = LOOPBACK_HOST.test(host ?? '') && LOOPBACK_ORIGIN.test(canonicalOrigin(origin));
      return isLocal ? undefined : 'origin';
    },
  };
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function plainAddress(address: string | undefined): string | undefined {
  return address
    ?.replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*$/, '')
    .toLowerCase();
}

/** Normalizes an HTTP origin. Origins of other schemes, such as those of editors and extensions, are compared unchanged. */
function canonicalOrigin(origin: string): string {
  if (!/^https?:/i.test(origin)) return origin;
  try {
    return new URL(origin).origin;
  } catch {
    return origin;
  }
}

/** Headers of the response to a CORS preflight request, in addition to `corsHeaders`. */
export const PREFLIGHT_HEADERS: readonly string[] = [
  'Access-Control-Allow-Methods',
  'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  // The star allows Mcp-Param-*. It does not cover Authorization, and old browsers ignore it, so the other headers are listed.
  'Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, *',
  'Access-Control-Max-Age',
  '600',
];

/** Returns the headers that let pages of the origin read a response. */
export function corsHeaders(origin: string | undefined): readonly string[] {
  if (origin === undefined) return [];
  return [
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Expose-Headers',
    'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate',
    'Vary',
    'Origin',
  ];
}
