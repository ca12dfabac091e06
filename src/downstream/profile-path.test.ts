import { expect, test } from 'vitest';

import { profileAt } from './profile-path.ts';

test.each([
  ['/mcp/p/reading', 'reading'],
  ['/mcp/p/', undefined],
  ['/mcp/p/a/b', undefined],
  ['/mcp/p/%72', undefined],
  ['/mcp', undefined],
])('%s asks for profile %s', (path, profile) => {
  expect(profileAt(path)).toBe(profile);
});
