import { expect, test } from 'vitest';

import { bytes, compact, countdown, duration, plural, relative, span } from './format.ts';

test.each([
  [duration(0.42), '0.42 ms'],
  [duration(9.96), '10 ms'],
  [duration(999.4), '999 ms'],
  [duration(1234), '1.2 s'],
  [duration(59_000), '59 s'],
  [duration(180_000), '3 min'],
  [span(0), '0 s'],
  [span(3_599_000), '60 min'],
  [span(86_400_000 * 3), '3 d'],
  [relative(1000, 1500), 'now'],
  [relative(0, 120_000), '2 min ago'],
  [relative(45_000, 1000), 'in 44 s'],
  [countdown(102_400), '1:43'],
  [countdown(-5), '0:00'],
  [countdown(7_200_000), '2 h'],
  [compact(999), '999'],
  [compact(1_234_567), '1.23M'],
  [compact(-4500), '-4.5K'],
  [plural(1, 'tool'), '1 tool'],
  [plural(2037, 'tool'), '2,037 tools'],
  [plural(0, 'entry', 'entries'), '0 entries'],
  [bytes(999), '999 B'],
  [bytes(1_500_000), '1.5 MB'],
])('%s is %s', (said, wanted) => {
  expect(said).toBe(wanted);
});
