import { expect, test } from 'vitest';

import { windowOf } from './window-of.ts';

test.each([
  [100_000, 0],
  [100_000, 1_800_000],
  [100_000, 3_600_000],
  [3, 0],
  [3, 99_999],
])('of %i rows at %i, few exist and the others have their room', (rows, top) => {
  const { first, end, before, after } = windowOf(rows, 36, top, 720);
  expect(end - first).toBeLessThanOrEqual(40);
  expect(before + (end - first) * 36 + after).toBe(rows * 36);
});

test('what is visible is there', () => {
  const { first, end } = windowOf(1000, 36, 3600, 720);
  expect(first).toBeLessThanOrEqual(100);
  expect(end).toBeGreaterThanOrEqual(120);
});
