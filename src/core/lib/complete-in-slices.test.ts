import { expect, test } from 'vitest';

import { completeAtOnce, completeInSlices } from './complete-in-slices.ts';

function* busySteps(count: number, stepMs: number): Generator<undefined, number> {
  for (let step = 0; step < count; step++) {
    const end = performance.now() + stepMs;
    while (performance.now() < end);
    yield;
  }
  return count;
}

test('steps in slices: lets the event loop run in between and returns the result', async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  expect(await completeInSlices(busySteps(20, 5))).toBe(20);
  clearInterval(timer);
  expect(turns).toBeGreaterThanOrEqual(5);
});

test('steps in slices: rejects with the error of a step', async () => {
  function* failing(): Generator<undefined, never> {
    yield;
    throw new Error('broken');
  }
  await expect(completeInSlices(failing())).rejects.toThrow('broken');
});

test('steps at once: returns the result of the same steps', () => {
  expect(completeAtOnce(busySteps(3, 0))).toBe(3);
});
