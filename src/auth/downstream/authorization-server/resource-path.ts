const RESOURCE_PATH = /^\/(?:mcp(?:\/[ps]\/[A-Za-z0-9._~%-]+)?|sse)$/;

/** Returns the path in the `resource` parameter of RFC 8707: empty for the whole gateway, undefined for a resource elsewhere. */
export function resolveResourcePath(
  resource: string | undefined,
  gateway: { readonly issuer: string; readonly host: string },
): string | undefined {
  if (resource === undefined) return '';
  if (!URL.canParse(resource)) return undefined;
  const { origin, pathname, hash } = new URL(resource);
  // An address such as `foo:bar` has no origin; `URL` then returns the text "null".
  if (hash !== '' || origin === 'null') return undefined;
  const isOurs =
    origin === gateway.issuer || origin === `http://${gateway.host}` || isSameMachine(origin, gateway.issuer);
  if (!isOurs) return undefined;
  if (pathname === '/') return '';
  return RESOURCE_PATH.test(pathname) ? pathname : undefined;
}

/** Whether a token for the resource is valid at the path. An empty resource covers all paths. */
export function coversPath(resource: string, path: string): boolean {
  if (resource === '' || resource === path) return true;
  if (resource === '/sse') return path === '/messages';
  // `/mcp` includes the narrower paths of single profiles and servers.
  return resource === '/mcp' && path.startsWith('/mcp/');
}

/** Whether both origins are loopback hosts with the same scheme and port. */
function isSameMachine(origin: string, issuer: string): boolean {
  const [one, other] = [new URL(origin), new URL(issuer)];
  const isLoopback = ({ hostname }: URL): boolean => /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
  return isLoopback(one) && isLoopback(other) && one.port === other.port && one.protocol === other.protocol;
}
