import fc from 'fast-check';
import { expect, test } from 'vitest';

import { maxDurationMs, parseDuration } from './duration.ts';

test('duration: accepts every unit', () => {
  expect(parseDuration('500ms')).toBe(500);
  expect(parseDuration('30s')).toBe(30_000);
  expect(parseDuration('5m')).toBe(300_000);
  expect(parseDuration('1h')).toBe(3_600_000);
  expect(parseDuration('1.5s')).toBe(1500);
  expect(parseDuration('0s')).toBe(0);
});

test.each(['', '5', 's', '-1s', '1 s', '1S', '1d', '1h30m', '1e3s', '.5s', '1.s', '1s ', '٣s', '1s\n'])(
  'duration: rejects %j',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('duration: rejects values that exceed the longest timer', () => {
  expect(parseDuration(`${maxDurationMs}ms`)).toBe(maxDurationMs);
  expect(parseDuration(`${maxDurationMs + 1}ms`)).toBeUndefined();
  expect(parseDuration('600h')).toBeUndefined();
});

test('duration: is the same for equal spans in different units', () => {
  fc.assert(
    fc.property(fc.nat({ max: 500 }), (hours) => {
      const ms = hours * 3_600_000;
      expect(parseDuration(`${hours}h`)).toBe(ms);
      expect(parseDuration(`${hours * 60}m`)).toBe(ms);
      expect(parseDuration(`${hours * 3600}s`)).toBe(ms);
      expect(parseDuration(`${ms}ms`)).toBe(ms);
    }),
  );
});

test('duration: is a non-negative integer within the timer limit for any accepted text', () => {
  const texts = fc.oneof(fc.string(), fc.stringMatching(/^[0-9.]{1,12}(ms|s|m|h)$/));
  fc.assert(
    fc.property(texts, (text) => {
      const ms = parseDuration(text);
      if (ms === undefined) return;
      expect(Number.isInteger(ms)).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThanOrEqual(maxDurationMs);
    }),
  );
});
