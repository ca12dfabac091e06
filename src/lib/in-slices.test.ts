import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { inSlices } from './in-slices.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Each step takes a millisecond of a clock of its own. */
function counted(steps: number) {
  let time = 0;
  function* work(): Generator<void, number> {
    for (let at = 0; at < steps; at += 1) {
      time += 1;
      yield;
    }
    return steps;
  }
  return { work: work(), clock: () => time };
}

test('does a slice at a time and gives others their turn between them', async () => {
  const { work, clock } = counted(10);
  const { done } = inSlices(work, { sliceMs: 4, pauseMs: 1, now: clock });
  expect(clock()).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(clock()).toBe(4);
  await vi.advanceTimersByTimeAsync(1);
  expect(clock()).toBe(8);
  await vi.advanceTimersByTimeAsync(1);
  expect(await done).toBe(10);
});

test('does the rest at once for somebody who asks', async () => {
  const { work, clock } = counted(10);
  const sliced = inSlices(work, { sliceMs: 4, pauseMs: 1, now: clock });
  await vi.advanceTimersByTimeAsync(1);
  expect(sliced.finish()).toBe(10);
  expect(await sliced.done).toBe(10);
  expect(sliced.finish()).toBe(10);
  expect(vi.getTimerCount()).toBe(0);
});

test('does nothing more once it was stopped', async () => {
  const { work, clock } = counted(10);
  const sliced = inSlices(work, { sliceMs: 4, pauseMs: 1, now: clock });
  await vi.advanceTimersByTimeAsync(1);
  sliced.stop();
  await vi.advanceTimersByTimeAsync(100);
  expect(clock()).toBe(4);
});

test('tells who waits and who asks when a step throws', async () => {
  function* bad(): Generator<void, number> {
    yield;
    throw new Error('broken');
  }
  const options = { sliceMs: 0, pauseMs: 1, now: () => 0 };
  const waiting = inSlices(bad(), options);
  await vi.advanceTimersByTimeAsync(5);
  await expect(waiting.done).rejects.toThrow('broken');
  expect(() => inSlices(bad(), options).finish()).toThrow('broken');
});
