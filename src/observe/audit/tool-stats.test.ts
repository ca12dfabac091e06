import fc from 'fast-check';
import { expect, test } from 'vitest';

import { bucketOf, quantile } from './tool-stats.ts';

test('a quantile is at most a tenth away from the truth', () => {
  const times = fc.array(fc.double({ min: 0.02, max: 100_000, noNaN: true }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95, 0.99), (all, part) => {
      const counts = new Map<number, number>();
      for (const ms of all) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
      const truth = all.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(part * all.length - 1e-9) - 1)] ?? 0;
      const estimate = quantile(counts, part) ?? 0;
      expect(Math.abs(estimate - truth) / truth).toBeLessThan(0.105);
    }),
  );
});

test('nothing has no quantile, and what is no time has the least', () => {
  expect(quantile(new Map(), 0.5)).toBeUndefined();
  expect(bucketOf(0)).toBe(0);
  expect(bucketOf(Number.NaN)).toBe(0);
});
