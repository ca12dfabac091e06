export interface HostCheck {
  /** Undefined when the request may pass; what was wrong otherwise. */
  problem(host: string | undefined, origin: string | undefined): 'host' | 'origin' | undefined;
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
}): HostCheck {
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(options.allowedOrigins.map(canonicalOrigin));

  const isHostAllowed = (host: string | undefined): boolean => {
    if (host === undefined) return false;
    if (LOOPBACK_HOST.test(host)) return true;
    if (hosts.size === 0) return false;
    const name = host.toLowerCase();
    return hosts.has(name) || hosts.has(name.replace(/:\d{1,5}$/, ''));
  };
  const readableBy = (origin: string | undefined): string | undefined => {
    if (origin === undefined) return undefined;
    const canonical = canonicalOrigin(origin);
    return LOOPBACK_ORIGIN.test(canonical) || origins.has(canonical) ? canonical : undefined;
  };
  return {
    readableBy,
    problem: (host, origin) => {
      if (!isHostAllowed(host)) return 'host';
      return origin !== undefined && readableBy(origin) === undefined ? 'origin' : undefined;
    },
  };
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
