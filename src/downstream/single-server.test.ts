import { describe, expect, test } from 'vitest';

import { serverAt } from './single-server.ts';

describe('the path of a server', () => {
  test.each([
    ['/mcp/s/files', 'files'],
    ['/mcp/s/my%20files', 'my files'],
    ['/mcp/s/a%2Fb', 'a/b'],
  ])('%s names it', (path, name) => {
    expect(serverAt(path)).toBe(name);
  });

  test.each(['/mcp', '/mcp/s', '/mcp/s/', '/mcp/s/a/b', '/mcp/s/%', '/s/a', ''])('%s names none', (path) => {
    expect(serverAt(path)).toBeUndefined();
  });
});
