import fc from 'fast-check';
import { expect, test } from 'vitest';

import { maxDurationMs, parseDuration } from './duration.ts';

test('reads every unit', () => {
  expect(parseDuration('500ms')).toBe(500);
  expect(parseDuration('30s')).toBe(30_000);
  expect(parseDuration('5m')).toBe(300_000);
  expect(parseDuration('1h')).toBe(3_600_000);
  expect(parseDuration('1.5s')).toBe(1500);
  expect(parseDuration('0s')).toBe(0);
});

test.each(['', '5', 's', '-1s', '1 s', '1S', '1d', '1h30m', '1e3s', '.5s', '1.s', '1s ', '٣s', '1s\n'])(
  'does not take %j for a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('refuses what a timer cannot hold', () => {
  expect(parseDuration(`${maxDurationMs}ms`)).toBe(maxDurationMs);
  expect(parseDuration(`${maxDurationMs + 1}ms`)).toBeUndefined();
  expect(parseDuration('600h')).toBeUndefined();
});

test('the same span has the same length in every unit', () => {
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

test('whatever the text, the answer is a whole number that a timer can hold, or none', () => {
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
