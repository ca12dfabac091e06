import { expect, test } from 'vitest';

import {
  formatBytes,
  formatCompact,
  formatCountdown,
  formatDuration,
  pluralize,
  formatRelative,
  formatSpan,
} from './format.ts';

test.each([
  [formatDuration(0.42), '0.42 ms'],
  [formatDuration(9.96), '10 ms'],
  [formatDuration(999.4), '999 ms'],
  [formatDuration(1234), '1.2 s'],
  [formatDuration(59_000), '59 s'],
  [formatDuration(180_000), '3 min'],
  [formatSpan(0), '0 s'],
  [formatSpan(3_599_000), '60 min'],
  [formatSpan(86_400_000 * 3), '3 d'],
  [formatRelative(1000, 1500), 'now'],
  [formatRelative(0, 120_000), '2 min ago'],
  [formatRelative(45_000, 1000), 'in 44 s'],
  [formatCountdown(102_400), '1:43'],
  [formatCountdown(-5), '0:00'],
  [formatCountdown(7_200_000), '2 h'],
  [formatCompact(999), '999'],
  [formatCompact(1_234_567), '1.23M'],
  [formatCompact(-4500), '-4.5K'],
  [pluralize(1, 'tool'), '1 tool'],
  [pluralize(2037, 'tool'), '2,037 tools'],
  [pluralize(0, 'entry', 'entries'), '0 entries'],
  [formatBytes(999), '999 B'],
  [formatBytes(1_500_000), '1.5 MB'],
])('format: writes %s as %s', (text, expected) => {
  expect(text).toBe(expected);
});
