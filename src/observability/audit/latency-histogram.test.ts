import fc from 'fast-check';
import { expect, test } from 'vitest';

import { latencyBucket, latencyQuantile } from './latency-histogram.ts';

test('quantile: is within about 10 % of the exact value', () => {
  const times = fc.array(fc.double({ min: 0.02, max: 100_000, noNaN: true }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(times, fc.constantFrom(0.5, 0.95, 0.99), (all, part) => {
      const counts = new Map<number, number>();
      for (const ms of all) counts.set(latencyBucket(ms), (counts.get(latencyBucket(ms)) ?? 0) + 1);
      const truth = all.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(part * all.length - 1e-9) - 1)] ?? 0;
      const estimate = latencyQuantile(counts, part) ?? 0;
      expect(Math.abs(estimate - truth) / truth).toBeLessThan(0.105);
    }),
  );
});

test('quantile: is undefined without values, and invalid durations fall into the lowest bucket', () => {
  expect(latencyQuantile(new Map(), 0.5)).toBeUndefined();
  expect(latencyBucket(0)).toBe(0);
  expect(latencyBucket(Number.NaN)).toBe(0);
});
