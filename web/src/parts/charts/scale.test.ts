import { expect, test } from 'vitest';

import { loneOf, pathOf } from './scale.ts';

test('a value with nothing beside it is a dot, others are lines', () => {
  const values = [null, 5, null, 1, 2, null, 10];
  expect(loneOf(values)).toEqual([null, 5, null, null, null, null, 10]);
  expect(pathOf(values, 10, 60, 10)).toBe('M10 5h0.01M30 9L40 8M60 0h0.01');
});
