const PREFIX = '/mcp/s/';

/** The server that a path asks for alone; undefined for every other path. */
export function serverAt(path: string): string | undefined {
  if (!path.startsWith(PREFIX)) return undefined;
  const name = path.slice(PREFIX.length);
  if (name === '' || name.includes('/')) return undefined;
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined; // Not an encoding of anything, so no server has it as its name.
  }
}
