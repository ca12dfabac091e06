import { expect, test } from 'vitest';

import { negotiateVersion } from './initialize.ts';

test.each([
  ['2025-03-26', undefined, '2025-03-26'],
  ['2025-06-18', '2025-03-26', '2025-03-26'],
  ['2024-11-05', '2025-03-26', '2024-11-05'],
  ['2020-01-01', '2025-06-18', '2025-06-18'],
  ['modern', '2025-06-18', '2025-06-18'],
  ['2099-01-01', '2025-06-18', '2025-06-18'],
])('protocol version: negotiates %s (client) and %s (server) to %s', (wanted, protocol, agreed) => {
  expect(negotiateVersion(wanted, protocol)).toBe(agreed);
});
