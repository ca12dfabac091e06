import { expect, test } from 'vitest';

import { createSteadyClock } from './steady-clock.ts';

test('steady clock: takes the larger step of both clocks and never goes back', () => {
  const now = { monotonic: 0, wall: 1000 };
  const clock = createSteadyClock(
    () => now.monotonic,
    () => now.wall,
  );
  const readAfter = (monotonicMs: number, wallMs: number): number => {
    now.monotonic += monotonicMs;
    now.wall += wallMs;
    return clock();
  };
  expect(readAfter(10, 10)).toBe(10);
  // The machine slept, and the monotonic clock stood still.
  expect(readAfter(1, 5000)).toBe(5010);
  // The wall clock was set back.
  expect(readAfter(20, -100_000)).toBe(5030);
  expect(readAfter(0, -5)).toBe(5030);
});
