const PREFIX = '/mcp/p/';

/** The profile that a path asks for; undefined for every other path. */
export function profileAt(path: string): string | undefined {
  const name = path.startsWith(PREFIX) ? path.slice(PREFIX.length) : '';
  return /^[A-Za-z0-9_.-]+$/.test(name) ? name : undefined;
}
