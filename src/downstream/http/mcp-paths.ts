const SERVER_PREFIX = '/mcp/s/';
const PROFILE_PREFIX = '/mcp/p/';

/** Returns whether the path has the form of an MCP endpoint, whether or not its server or profile exists. */
export function isMcpPath(path: string): boolean {
  if (path === '/mcp' || path === '/sse' || path === '/messages') return true;
  return readServerFromPath(path) !== undefined || readProfileFromPath(path) !== undefined;
}

/** Returns the single server that a path names. */
export function readServerFromPath(path: string): string | undefined {
  if (!path.startsWith(SERVER_PREFIX)) return undefined;
  const name = path.slice(SERVER_PREFIX.length);
  if (name === '' || name.includes('/')) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined; // Malformed percent-encoding cannot name a server.
  }
}

/** Returns the profile that a path names. */
export function readProfileFromPath(path: string): string | undefined {
  const name = path.startsWith(PROFILE_PREFIX) ? path.slice(PROFILE_PREFIX.length) : '';
  return /^[A-Za-z0-9_.-]+$/.test(name) ? name : undefined;
}
