import { describe, expect, test } from 'vitest';

import { isMcpPath, readProfileFromPath, readServerFromPath } from './mcp-paths.ts';

test('MCP path: is recognised by its form alone', () => {
  for (const path of ['/mcp', '/sse', '/messages', '/mcp/s/x', '/mcp/p/x'])
    expect(isMcpPath(path)).toBe(true);
  for (const path of ['/', '/mcp/', '/mcp/x', '/api/status', '/mcp/p/a/b'])
    expect(isMcpPath(path)).toBe(false);
});

describe('server path', () => {
  test.each([
    ['/mcp/s/files', 'files'],
    ['/mcp/s/my%20files', 'my files'],
    ['/mcp/s/a%2Fb', 'a/b'],
  ])('server path: %s selects a server', (path, name) => {
    expect(readServerFromPath(path)).toBe(name);
  });

  test.each(['/mcp', '/mcp/s', '/mcp/s/', '/mcp/s/a/b', '/mcp/s/%', '/s/a', ''])(
    'server path: %s selects no server',
    (path) => {
      expect(readServerFromPath(path)).toBeUndefined();
    },
  );
});

test.each([
  ['/mcp/p/reading', 'reading'],
  ['/mcp/p/', undefined],
  ['/mcp/p/a/b', undefined],
  ['/mcp/p/%72', undefined],
  ['/mcp', undefined],
])('profile path: %s selects profile %s', (path, profile) => {
  expect(readProfileFromPath(path)).toBe(profile);
});
