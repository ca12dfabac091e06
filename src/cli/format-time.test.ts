import { expect, test } from 'vitest';

import { formatTime } from './format-time.ts';

test('time: shows today as a time of day and other days with their date', () => {
  const now = new Date(2026, 10, 16, 12, 0, 0).getTime();
  const today = new Date(2026, 10, 16, 4, 53, 12).getTime();
  const before = new Date(2026, 10, 15, 23, 1, 2).getTime();
  expect(formatTime(today, { now, width: 80 })).toBe('04:53:12');
  expect(formatTime(before, { now, width: 80 })).toBe('2026-11-15 23:01');
  expect(formatTime(before, { now, width: 60 })).toBe('11-15 23:01');
  expect(formatTime(today, { now, width: Infinity })).toBe('2026-11-16 04:53:12');
});
