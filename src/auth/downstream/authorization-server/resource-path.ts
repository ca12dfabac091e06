const PATH = /^\/(?:mcp(?:\/[ps]\/[A-Za-z0-9._~%-]+)?|sse)$/;

/** The path that a token is to be for, from RFC 8707's parameter; empty for all of ours, undefined for what is not ours. */
export function resourcePath(
  resource: string | undefined,
  ours: { readonly issuer: string; readonly host: string },
): string | undefined {
  if (resource === undefined) return '';
  if (!URL.canParse(resource)) return undefined;
  const { origin, pathname, hash } = new URL(resource);
  if (
    hash !== '' ||
    (origin !== ours.issuer && origin !== `http://${ours.host}` && !isSameMachine(origin, ours.issuer))
  )
    return undefined;
  if (pathname === '/') return '';
  return PATH.test(pathname) ? pathname : undefined;
}

/** Whether a token for one path is good at another. */
export function coversPath(resource: string, path: string): boolean {
  if (resource === '' || resource === path) return true;
  if (resource === '/sse') return path === '/messages';
  // The path of a profile or of a server is narrower than that of everything.
  return resource === '/mcp' && path.startsWith('/mcp/');
}

/** This machine has several names. */
function isSameMachine(origin: string, issuer: string): boolean {
  const [one, other] = [new URL(origin), new URL(issuer)];
  const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  return isLoopback(one) && isLoopback(other) && one.port === other.port && one.protocol === other.protocol;
}
