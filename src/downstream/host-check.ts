import { isIP } from 'node:net';

export interface HostCheck {
  /** Undefined when the request may pass; what was wrong otherwise. */
  problem(
    host: string | undefined,
    origin: string | undefined,
    /** Of ours, that the request came to; asked for its address only where that matters. */
    socket?: { readonly localAddress?: string | undefined },
  ): 'host' | 'origin' | undefined;
  /** The origin in its canonical spelling when a page of it may read our answers. */
  readableBy(origin: string | undefined): string | undefined;
}

const LOOPBACK_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i;
const LOOPBACK_ORIGIN = /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/;

/**
 * A page in the user's browser can reach loopback, also under a name of its own that resolves to it. Both headers
 * tell: browsers let no page choose them.
 */
export function hostCheck(options: {
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  /** Where clients find us through a proxy. */
  readonly publicUrl?: string | undefined;
}): HostCheck {
  const { publicUrl } = options;
  const ours = publicUrl === undefined ? [] : [new URL(publicUrl)];
  const hosts = new Set([
    ...options.allowedHosts.map((host) => host.toLowerCase()),
    ...ours.map(({ host }) => host),
  ]);
  const origins = new Set([
    ...options.allowedOrigins.map(canonicalOrigin),
    ...ours.map(({ origin }) => origin),
  ]);

  const isHostAllowed = (host: string | undefined, socket: Parameters<HostCheck['problem']>[2]): boolean => {
    if (host === undefined) return false;
    if (LOOPBACK_HOST.test(host)) return true;
    const name = host.toLowerCase();
    const bare = name.replace(/:\d{1,5}$/, '');
    // No name was resolved to get here, so none can have been made to mean us.
    if (isIP(unbracketed(bare)) !== 0 && unbracketed(bare) === plainAddress(socket?.localAddress))
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
    problem: (host, origin, socket) => {
      if (!isHostAllowed(host, socket)) return 'host';
      if (origin === undefined || readableBy(origin) !== undefined) return undefined;
      // A page of this machine may ask here, though it cannot read; through a public name it has no business.
      const isLocal = LOOPBACK_HOST.test(host ?? '') && LOOPBACK_ORIGIN.test(canonicalOrigin(origin));
      return isLocal ? undefined : 'origin';
    },
  };
}

function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

function plainAddress(address: string | undefined): string | undefined {
  return address
    ?.replace(/^::ffff:(?=\d+\.)/i, '')
    .replace(/%.*$/, '')
    .toLowerCase();
}

/** Origins of other schemes, such as those of editors and extensions, have no canonical form; they must be equal. */
function canonicalOrigin(origin: string): string {
  if (!/^https?:/i.test(origin)) return origin;
  try {
    return new URL(origin).origin;
  } catch {
    return origin;
  }
}
