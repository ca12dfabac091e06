import { expect, test } from 'vitest';

import { isolatedValues, linePath, timeLabels } from './chart-scale.ts';

test('chart: draws an isolated value as a dot and connected values as a line', () => {
  const values = [null, 5, null, 1, 2, null, 10];
  expect(isolatedValues(values)).toEqual([null, 5, null, null, null, null, 10]);
  expect(linePath(values, 10, 60, 10)).toBe('M10 5h0.01M30 9L40 8M60 0h0.01');
});

test('chart: labels at most five times, from the first to the last', () => {
  const at = Array.from({ length: 97 }, (_, index) => index);
  expect(timeLabels(at)).toEqual([0, 24, 48, 72, 96]);
  expect(timeLabels([7, 8])).toEqual([7, 8]);
  expect(timeLabels([7])).toEqual([7]);
  expect(timeLabels([])).toEqual([]);
});
