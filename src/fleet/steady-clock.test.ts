import { expect, test } from 'vitest';

import { steadyClock } from './steady-clock.ts';

test('takes the larger step of both clocks, and never goes back', () => {
  const now = { steps: 0, wall: 1000 };
  const clock = steadyClock(
    () => now.steps,
    () => now.wall,
  );
  const after = (steps: number, wall: number): number => {
    now.steps += steps;
    now.wall += wall;
    return clock();
  };
  expect(after(10, 10)).toBe(10);
  // The machine slept: one of them did not notice.
  expect(after(1, 5000)).toBe(5010);
  // The time was set back.
  expect(after(20, -100_000)).toBe(5030);
  expect(after(0, -5)).toBe(5030);
});
