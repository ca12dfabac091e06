import { expect, test } from 'vitest';

import { computeRowWindow } from './row-window.ts';

test.each([
  [100_000, 0],
  [100_000, 1_800_000],
  [100_000, 3_600_000],
  [3, 0],
  [3, 99_999],
])('virtual list: renders few of %i rows at scroll position %i and keeps the total height', (rows, top) => {
  const { first, end, before, after } = computeRowWindow(rows, 36, top, 720);
  expect(end - first).toBeLessThanOrEqual(40);
  expect(before + (end - first) * 36 + after).toBe(rows * 36);
});

test('virtual list: renders all visible rows', () => {
  const { first, end } = computeRowWindow(1000, 36, 3600, 720);
  expect(first).toBeLessThanOrEqual(100);
  expect(end).toBeGreaterThanOrEqual(120);
});
