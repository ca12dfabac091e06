import { expect, test } from 'vitest';

import { agreedVersion } from './introduction.ts';

test.each([
  ['2025-03-26', undefined, '2025-03-26'],
  ['2025-06-18', '2025-03-26', '2025-03-26'],
  ['2024-11-05', '2025-03-26', '2024-11-05'],
  ['2020-01-01', '2025-06-18', '2025-06-18'],
  ['modern', '2025-06-18', '2025-06-18'],
  ['2099-01-01', '2025-06-18', '2025-06-18'],
])('who wants %s of a server with %s gets %s', (wanted, protocol, agreed) => {
  expect(agreedVersion(wanted, protocol)).toBe(agreed);
});
