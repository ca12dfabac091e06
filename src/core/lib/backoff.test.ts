import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { backoff } from './backoff.ts';

describe('backoff', () => {
  test('backoff: doubles the upper bound with every attempt, up to the maximum', () => {
    const options = { baseMs: 500, maxMs: 60_000, random: () => 1 };
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempt) => backoff(attempt, options));
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
  });

  test('backoff: stays between zero and the maximum for any number of attempts', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const wait = backoff(attempt, { baseMs: 500, maxMs: 60_000, random: () => random });
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThanOrEqual(60_000);
        expect(Number.isInteger(wait)).toBe(true);
      }),
    );
  });
});
