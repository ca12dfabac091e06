export const PREFLIGHT = [
  'Access-Control-Allow-Methods',
  'GET, POST, DELETE, OPTIONS',
  'Access-Control-Allow-Headers',
  // The star stands for Mcp-Param-*; it does not cover Authorization, and old browsers do not know it.
  'Content-Type, Accept, Authorization, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, *',
  'Access-Control-Max-Age',
  '600',
];

/** What lets a page of another origin read an answer; nothing where no page may. */
export function crossOrigin(reader: string | undefined): readonly string[] {
  if (reader === undefined) return [];
  return [
    'Access-Control-Allow-Origin',
    reader,
    'Access-Control-Expose-Headers',
    'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate',
    'Vary',
    'Origin',
  ];
}
