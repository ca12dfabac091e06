import { expect, test } from 'vitest';

import { formatCount } from './format-count.ts';

test('count: uses singular and plural forms', () => {
  expect([formatCount(0, 'tool'), formatCount(1, 'tool'), formatCount(2, 'tool')]).toEqual([
    '0 tools',
    '1 tool',
    '2 tools',
  ]);
});
